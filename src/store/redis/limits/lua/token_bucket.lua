-- Fields `t` (level in units, a double) and `ts` (microseconds since 1970, an int64). Every number is a whole
-- one below 2^53, where doubles are exact; so is the floor or ceiling of a quotient of two of them.
local call, floor, ceil = redis.call, math.floor, math.ceil
local pack, unpacked = struct.pack, struct.unpack

-- Says allowed, remaining, retry after, reset after; and the level and time after the charge. A negative cost
-- gives tokens back. Compared by hand: a call of math.min costs as much as all of the arithmetic.
local function bucket_step(level, at, cost, capacity, unit, speed)
    local full = capacity * unit
    if level > full then
        level = full
    elseif level < 0 then
        level = 0
    end
    local elapsed = now - at
    if elapsed > 0 then
        at = now
        -- Clipped before it is multiplied: the product stays exact.
        local fill_time = ceil(full / speed)
        level = elapsed < fill_time and level + elapsed * speed or full
        if level > full then
            level = full
        end
    end
    local wanted = (cost == 0 and 1 or cost) * unit
    if level < wanted then
        local to_full = at + ceil((full - level) / speed) - now
        return false, floor(level / unit), at + ceil((wanted - level) / speed) - now, to_full, level, at
    end
    level = level - cost * unit
    if level > full then
        level = full
    end
    return true, floor(level / unit), 0, at + ceil((full - level) / speed) - now, level, at
end
