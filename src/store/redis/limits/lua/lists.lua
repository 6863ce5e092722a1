-- sliding_window and concurrency. Fields `l` and `p`: for each charge its moment (int64) and cost (uint16), for each
-- lease also its id (int64); oldest first. The window, or how long a lease lasts, is `a`. The newest stays
-- when all of it was given back, with a cost of 0: it tells how far time had come.
local function empty_list(link)
    link.at, link.held, link.id = {}, {}, {}
end

-- Time as the list has seen it, and the first entry that still counts.
local function reached_by(link)
    local count = #link.at
    local seen = count > 0 and max(now, link.at[count]) or now
    local first = 1
    while first <= count and link.at[first] + link.a <= seen do
        first = first + 1
    end
    return seen, first, count
end

-- Keeps the entries of which keep(i) is true.
local function filter(link, keep)
    local count = 0
    for i = 1, #link.at do
        local at, held, id = link.at[i], link.held[i], link.id[i]
        local kept = keep(i)
        link.at[i], link.held[i], link.id[i] = nil, nil, nil
        if kept then
            count = count + 1
            link.at[count], link.held[count], link.id[count] = at, held, id
        end
    end
end

local function drop_gone(link, first)
    filter(link, function(i) return i >= first end)
end

local function drop_empty(link)
    local newest = #link.at
    filter(link, function(i) return i == newest or link.held[i] > 0 end)
end

local function look_list(link)
    local seen, first, count = reached_by(link)
    local held, weight = 0, max(link.cost, 1)
    for i = first, count do
        held = held + link.held[i]
    end
    local left = max(0, link.limit - held)
    if weight > left then
        local last, freed = first, link.held[first]
        while freed < held + weight - link.limit do
            last = last + 1
            freed = freed + link.held[last]
        end
        return false, left, link.at[last] + link.a - now, link.at[count] + link.a - now
    end
    local free = seen + link.a
    if link.cost == 0 then
        free = held == 0 and now or link.at[count] + link.a
    end
    return true, left - link.cost, 0, free - now
end

local function refund_list(link)
    local _, first, count = reached_by(link)
    local owed = link.cost
    for i = first, count do
        local back = min(owed, link.held[i])
        link.held[i] = link.held[i] - back
        owed = owed - back
    end
    drop_empty(link)
end

local function idle_list(link)
    local count = #link.at
    return count == 0 and 0 or link.at[count] + link.a
end

-- What both have in common. charge() gets how many entries are left, and time as the list has seen it.
local function list_rule(format, size, charge)
    local rule = {fresh = empty_list, look = look_list, refund = refund_list, idle = idle_list}

    function rule.read(link, bytes)
        empty_list(link)
        for i = 1, #bytes / size do
            -- A charge has no id: what comes third is then the position behind it, and of no use.
            link.at[i], link.held[i], link.id[i] = unpacked(format, bytes, 1 + (i - 1) * size)
        end
    end

    function rule.write(link)
        local parts = {}
        for i = 1, #link.at do
            parts[i] = pack(format, link.at[i], link.held[i], link.id[i])
        end
        return table.concat(parts)
    end

    function rule.charge(link, lease)
        local seen, first = reached_by(link)
        drop_gone(link, first)
        charge(link, #link.at, seen, lease)
    end
    return rule
end

rules.l = list_rule('>i8I2', 10, function(link, count, seen)
    if count > 0 and (link.at[count] == seen or link.held[count] == 0) then
        link.at[count], link.held[count] = seen, link.held[count] + link.cost
    else
        link.at[count + 1], link.held[count + 1] = seen, link.cost
    end
end)

rules.p = list_rule('>i8I2i8', 18, function(link, count, seen, lease)
    if count == 0 or link.held[count] > 0 then
        count = count + 1
    end
    link.at[count], link.held[count], link.id[count] = seen, link.cost, lease
end)

-- Whether the lease was held.
local function release_lease(link, lease)
    local _, first, count = reached_by(link)
    for i = first, count do
        if link.id[i] == lease and link.held[i] > 0 then
            link.held[i] = 0
            drop_empty(link)
            return true
        end
    end
    return false
end
