-- Most checks are about one token bucket without an override. They are decided here, before anything else of
-- the script is set up; all others go the long way.
if ARGV[1] == 'take' and ARGV[2] == 'b' and #KEYS == 1 then
    local key = KEYS[1]
    local t, ts, v, o = unpack(call('HMGET', key, 't', 'ts', 'v', 'o'))
    if not o and (v == '1' or not v) then
        local cost, capacity, unit, speed =
            tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
        if cost > capacity then
            return {-1}
        end
        local level, at = capacity * unit, 0
        if v then
            level, at = unpacked('>d', t), unpacked('>i8', ts)
        end
        local allowed, remaining, retry, reset, left, moment =
            bucket_step(level, at, cost, capacity, unit, speed)
        if allowed and cost > 0 then
            call('HSET', key, 't', pack('>d', left), 'ts', pack('>i8', moment), 'v', '1')
            keep_until(key, now + reset)
        end
        return {allowed and 1 or 0, 0, capacity, remaining, retry, reset, 0}
    end
end

-- What each rule does, by its letter. look() says allowed, remaining, retry after, reset after and changes
-- nothing; charge() and refund() change the link's state, write() gives the bytes to keep, idle() the moment
-- from which on they are as good as none.
local rules = {}

local function bucket_now(link)
    return refilled(link.level, link.at, link.limit * link.a, link.b)
end

rules.b = {
    version = '1',
    fresh = function(link)
        link.level, link.at = link.limit * link.a, 0
    end,
    look = function(link)
        local allowed, remaining, retry, reset =
            bucket_step(link.level, link.at, link.cost, link.limit, link.a, link.b)
        return allowed, remaining, retry, reset
    end,
    charge = function(link)
        link.level, link.at = bucket_now(link)
        link.level = link.level - link.cost * link.a
    end,
    refund = function(link)
        link.level, link.at = bucket_now(link)
        link.level = min(link.limit * link.a, link.level + link.cost * link.a)
    end,
    idle = function(link)
        return link.at + ceil((link.limit * link.a - link.level) / link.b)
    end,
}
