-- Field `c`: the last event, the start of the hour, the events in it, int64 each; -1 for a moment that never
-- was. The pause is `a`.
local never, hour = -1, 3600000000

local function settled(link, at)
    local last, start = min(link.last, at), min(link.start, at)
    if start ~= never and at - start >= hour then
        return last, never, 0
    end
    return last, start, link.events
end

-- How long a block at that moment lasts.
local function blocked_for(link, cap, at)
    local last, start, events = settled(link, at)
    if last ~= never and at - last < link.a then
        return link.a - (at - last)
    end
    return events >= cap and hour - (at - start) or 0
end

local function cooldown_idle(link, last, start, events)
    return max(last == never and 0 or last + link.a, events == 0 and 0 or start + hour)
end

local function recorded(link)
    local at = max(now, link.last)
    local _, start, events = settled(link, at)
    return at, start == never and at or start, events + link.cost
end

rules.c = {
    fresh = function(link)
        link.last, link.start, link.events = never, never, 0
    end,
    read = function(link, bytes)
        link.last, link.start, link.events = unpacked('>i8i8i8', bytes)
    end,
    write = function(link)
        return pack('>i8i8i8', link.last, link.start, link.events)
    end,
    look = function(link)
        local reached = max(now, link.last)
        local last, start, events = settled(link, reached)
        local left = max(0, link.limit - events)
        -- So many events fit exactly when one fits under this cap. Behind a pause a full hour may wait.
        local cap = link.limit - max(link.cost, 1) + 1
        local passes = reached + blocked_for(link, cap, reached)
        passes = passes + blocked_for(link, cap, passes)
        if passes > reached then
            return false, left, passes - now, cooldown_idle(link, last, start, events) - now
        end
        if link.cost > 0 then
            last, start, events = recorded(link)
        end
        return true, left - link.cost, 0, max(0, cooldown_idle(link, last, start, events) - now)
    end,
    charge = function(link)
        link.last, link.start, link.events = recorded(link)
    end,
    refund = function(link)
        link.last, link.start, link.events = settled(link, max(now, link.last))
        link.events = max(0, link.events - link.cost)
        if link.events == 0 then
            link.start = never
        end
    end,
    idle = function(link)
        return cooldown_idle(link, link.last, link.start, link.events)
    end,
}
