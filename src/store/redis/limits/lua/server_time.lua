-- The server's clock decides, read once. A key goes when what it holds is as good as nothing; an absolute
-- time, because a relative one would be counted from a clock that is cut to milliseconds. 'GT': not before what
-- else it holds; 'NX': likewise, for a key that may be new.
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local function keep_until(key, moment, condition)
    local milliseconds = math.ceil(moment / 1000)
    if not condition then
        redis.call('PEXPIREAT', key, milliseconds)
    elseif redis.call('PEXPIREAT', key, milliseconds, condition) == 0 and condition == 'NX' then
        redis.call('PEXPIREAT', key, milliseconds, 'GT')
    end
end
