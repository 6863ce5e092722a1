-- Most checks are about one token bucket without an override. They are decided here, before anything else of
-- the script is set up; all others go the long way.
if ARGV[1] == 'take' and ARGV[2] == 'b' and #KEYS == 1 then
    local key = KEYS[1]
    local known = call('HMGET', key, 't', 'ts', 'v', 'o')
    local v = known[3]
    if not known[4] and (v == '1' or not v) then
        local cost, capacity, unit, speed = ARGV[3] + 0, ARGV[4] + 0, ARGV[5] + 0, ARGV[6] + 0
        if cost > capacity then
            return {-1}
        end
        local level, at = capacity * unit, 0
        if v then
            level, at = unpacked('>d', known[1]), unpacked('>i8', known[2])
        end
        local allowed, remaining, retry, reset, left, moment =
            bucket_step(level, at, cost, capacity, unit, speed)
        if allowed and cost > 0 then
            call('HSET', key, 't', pack('>d', left), 'ts', pack('>i8', moment), 'v', '1')
            keep_until(key, now + reset, v and 'GT' or 'NX') -- It may also hold what other algorithms keep.
        end
        return {allowed and 1 or 0, 0, capacity, remaining, retry, reset, 0}
    end
end

-- What each rule does, by its letter. look() says allowed, remaining, retry after, reset after and changes
-- nothing; charge() and refund() change the link's state, write() gives the bytes to keep, idle() the moment
-- from which on they are as good as none.
local rules = {}
local min, max = math.min, math.max

local function change_bucket(link, cost)
    local _, _, _, _, level, at = bucket_step(link.level, link.at, cost, link.limit, link.a, link.b)
    link.level, link.at = level, at
end

rules.b = {
    fresh = function(link)
        link.level, link.at = link.limit * link.a, 0
    end,
    look = function(link)
        local allowed, remaining, retry, reset =
            bucket_step(link.level, link.at, link.cost, link.limit, link.a, link.b)
        return allowed, remaining, retry, reset
    end,
    charge = function(link)
        change_bucket(link, link.cost)
    end,
    refund = function(link)
        change_bucket(link, -link.cost)
    end,
    idle = function(link)
        return link.at + ceil((link.limit * link.a - link.level) / link.b)
    end,
}
