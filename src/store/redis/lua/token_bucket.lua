-- Fields `t` (level in units, a double) and `ts` (microseconds since 1970, an int64). Every number is a whole
-- one below 2^53, where doubles are exact; so is the floor or ceiling of a quotient of two of them.
local call, floor, ceil, min, max = redis.call, math.floor, math.ceil, math.min, math.max
local pack, unpacked = struct.pack, struct.unpack

local function refilled(level, at, full, speed)
    level = max(0, min(level, full))
    local elapsed = now - at
    if elapsed <= 0 then
        return level, at
    end
    return min(full, level + min(elapsed, ceil(full / speed)) * speed), now
end

-- Says allowed, remaining, retry after, reset after; and the level and time after the charge.
local function bucket_step(level, at, cost, capacity, unit, speed)
    local full = capacity * unit
    level, at = refilled(level, at, full, speed)
    local wanted = max(cost, 1) * unit
    if level < wanted then
        local to_full = at + ceil((full - level) / speed) - now
        return false, floor(level / unit), at + ceil((wanted - level) / speed) - now, to_full, level, at
    end
    level = level - cost * unit
    return true, floor(level / unit), 0, at + ceil((full - level) / speed) - now, level, at
end
