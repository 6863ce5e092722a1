-- Field `e`: start, used in the window that begins there, used in the one before, int64 each. The window is `a`.
local function rolled_estimate(link)
    local start = now - now % link.a
    local current = max(0, min(link.current, link.limit))
    if start <= link.start then
        return link.start, current, max(0, min(link.previous, link.limit))
    end
    return start, 0, start - link.start <= link.a and current or 0
end

-- How far into a window `previous` counts for at most `spare` tokens.
local function fits_from(link, previous, spare)
    return previous <= spare and 0 or link.a - floor(spare * link.a / previous)
end

local function estimate_passes_at(link, start, current, previous)
    local weight = max(link.cost, 1)
    local spare = link.limit - current - weight
    if spare >= 0 then
        local here = fits_from(link, previous, spare)
        if here < link.a then
            return start + here
        end
    end
    return start + link.a + fits_from(link, current, link.limit - weight)
end

local function estimate_idle(link, start, current)
    return start + (current > 0 and 2 or 1) * link.a
end

rules.e = {
    fresh = function(link)
        link.start, link.current, link.previous = 0, 0, 0
    end,
    read = function(link, bytes)
        link.start, link.current, link.previous = unpacked('>i8i8i8', bytes)
    end,
    write = function(link)
        return pack('>i8i8i8', link.start, link.current, link.previous)
    end,
    look = function(link)
        local start, current, previous = rolled_estimate(link)
        local covered = previous * (link.a - max(0, now - start))
        local left = max(0, link.limit - current - ceil(covered / link.a))
        if max(link.cost, 1) > left then
            local passes = estimate_passes_at(link, start, current, previous)
            return false, left, passes - now, estimate_idle(link, start, current) - now
        end
        current = current + link.cost
        local untouched = current == 0 and previous == 0
        return true, left - link.cost, 0, untouched and 0 or estimate_idle(link, start, current) - now
    end,
    charge = function(link)
        link.start, link.current, link.previous = rolled_estimate(link)
        link.current = link.current + link.cost
    end,
    refund = function(link)
        link.start, link.current, link.previous = rolled_estimate(link)
        link.current = max(0, link.current - link.cost)
    end,
    idle = function(link)
        return estimate_idle(link, link.start, link.current)
    end,
}
