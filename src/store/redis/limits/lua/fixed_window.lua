-- Field `w`: used and start, int64 each. The kind of window is `a`, its size `b`.
local day = 86400000000
local aligned, first_hit, of_day, of_week, of_month = 0, 1, 2, 3, 4

-- Days from 1970 to the first of January.
local function new_year(year)
    return 365 * (year - 1970) + floor((year - 1969) / 4) - floor((year - 1901) / 100) +
        floor((year - 1601) / 400)
end

-- The first day of the year, and of the next.
local function year_around(days)
    local year = 1970 + floor(days / 366)
    while new_year(year + 1) <= days do
        year = year + 1
    end
    return new_year(year), new_year(year + 1)
end

local function month_around(days)
    local first, next_year = year_around(days)
    local february = next_year - first - 337
    for _, length in ipairs({31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30}) do
        if days < first + length then
            return first, first + length
        end
        first = first + length
    end
    return first, next_year
end

-- The first day of the calendar unit that has this day, and of the next.
local function unit_around(kind, days)
    if kind == of_day then
        return days, days + 1
    elseif kind == of_week then
        local monday = days - (days + 3) % 7
        return monday, monday + 7
    elseif kind == of_month then
        return month_around(days)
    end
    return year_around(days)
end

local function start_of(link, moment)
    if link.a == aligned then
        return moment - moment % link.b
    elseif link.a == first_hit then
        return moment
    end
    local first = unit_around(link.a, floor(moment / day))
    return max(0, first * day)
end

local function end_of(link, start)
    if link.a == aligned or link.a == first_hit then
        return start + link.b
    end
    local _, next_first = unit_around(link.a, floor(start / day))
    return next_first * day
end

local function is_free(link)
    return link.used == 0 and link.a == first_hit
end

-- The window that counts now: never one before that of the last charge.
local function rolled_window(link)
    if is_free(link) or end_of(link, link.start) <= now then
        return 0, start_of(link, now)
    end
    return link.used, link.start
end

rules.w = {
    fresh = function(link)
        link.used, link.start = 0, 0
    end,
    read = function(link, bytes)
        link.used, link.start = unpacked('>i8i8', bytes)
    end,
    write = function(link)
        return pack('>i8i8', link.used, link.start)
    end,
    look = function(link)
        local used, start = rolled_window(link)
        local to_end = end_of(link, start) - now
        local left = max(0, link.limit - used)
        if max(link.cost, 1) > left then
            return false, left, to_end, to_end
        end
        local untouched = link.cost == 0 and used == 0
        return true, left - link.cost, 0, untouched and 0 or to_end
    end,
    charge = function(link)
        link.used, link.start = rolled_window(link)
        link.used = link.used + link.cost
    end,
    refund = function(link)
        link.used, link.start = rolled_window(link)
        link.used = max(0, link.used - link.cost)
    end,
    idle = function(link)
        return is_free(link) and 0 or end_of(link, link.start)
    end,
}
