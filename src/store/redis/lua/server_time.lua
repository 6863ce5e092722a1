-- The server's clock decides, read once. A key goes when what it holds is as good as nothing; an absolute
-- time, because a relative one would be counted from a clock that is cut to milliseconds.
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local function keep_until(key, moment, at_least)
    if at_least then
        redis.call('PEXPIREAT', key, math.ceil(moment / 1000), 'GT')
    else
        redis.call('PEXPIREAT', key, math.ceil(moment / 1000))
    end
end
