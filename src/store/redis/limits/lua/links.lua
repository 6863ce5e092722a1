-- A link is a key under a plan: five arguments (rule, cost, limit, a, b; a capital letter is shadow mode) and
-- what the key's hash holds. Each rule keeps its state apart: the token bucket in `t`, `ts` and `v`, another in
-- the field of its letter, behind the version of the layout. So nodes that disagree on a plan's algorithm do
-- not wipe what the other counted. Field `o` is an override, whose state has fields of the same names behind
-- `o:`.
local layout = '1'
local letters = {'w', 'l', 'e', 'c', 'p'}

-- Nothing: it was written by another version.
local function read_state(link, prefix, t, ts, version, state)
    link.prefix = prefix
    link.rule = rules[link.letter]
    if link.letter ~= 'b' then
        version = state and string.sub(state, 1, 1)
    end
    if version and version ~= layout then
        return nil
    end
    link.known = version
    if not version then
        link.rule.fresh(link)
    elseif link.letter == 'b' then
        link.level, link.at = unpacked('>d', t), unpacked('>i8', ts)
    else
        link.rule.read(link, string.sub(state, 2))
    end
    return link
end

-- The plan's own link, and whether the hash holds what others count.
local function own_link(i, t, ts, v, states)
    local base = 5 * i - 3
    local letter = string.lower(ARGV[base])
    local link = {key = KEYS[i], letter = letter, shadow = letter ~= ARGV[base], cost = tonumber(ARGV[base + 1]),
        limit = tonumber(ARGV[base + 2]), a = tonumber(ARGV[base + 3]), b = tonumber(ARGV[base + 4])}
    link.shared = letter ~= 'b' and v
    for other, state in pairs(states) do
        link.shared = link.shared or (state and other ~= letter)
    end
    return read_state(link, '', t, ts, v, states[letter])
end

local function open_link(i)
    local t, ts, v, o, w, l, e, c, p = unpack(call('HMGET', KEYS[i], 't', 'ts', 'v', 'o', unpack(letters)))
    local own = own_link(i, t, ts, v, {w = w, l = l, e = e, c = c, p = p})
    if not own or not o then
        return own
    end
    if string.sub(o, 1, 1) ~= layout then
        return nil
    end
    local ends, rule, limit, a, b = unpacked('>i8c1i8i8i8', o, 2)
    if now >= ends then
        own.expired = true
        return own
    end
    local link = {key = own.key, letter = rule, shadow = own.shadow, cost = own.cost, limit = limit, a = a, b = b,
        own = own, ends = ends, shared = true}
    t, ts, v, o = unpack(call('HMGET', link.key, 'o:t', 'o:ts', 'o:v', 'o:' .. rule))
    return read_state(link, 'o:', t, ts, v, o)
end

local function open_links()
    local links = {}
    for i = 1, #KEYS do
        links[i] = open_link(i)
        if not links[i] then
            return nil
        end
    end
    return links
end

local function forget_override(key)
    call('HDEL', key, 'o', 'o:t', 'o:ts', 'o:v', 'o:w', 'o:l', 'o:e', 'o:c', 'o:p')
end

local function write_link(link)
    local key, prefix, rule = link.key, link.prefix, link.rule
    if link.expired then
        forget_override(key)
    end
    if link.letter == 'b' then
        call('HSET', key, prefix .. 't', pack('>d', link.level), prefix .. 'ts', pack('>i8', link.at),
            prefix .. 'v', layout)
    else
        call('HSET', key, prefix .. link.letter, layout .. rule.write(link))
    end
    keep_until(key, rule.idle(link), link.shared and 'NX')
end

-- The first moment from `at` on at which the check passes under the link's rule alone, if nothing is charged
-- until then. What costs more than the rule could ever allow does not wait: it is told so.
local function passes_under(link, at)
    if link.cost > link.limit then
        return at
    end
    local before = now
    now = at
    local allowed, _, retry = link.rule.look(link)
    now = before
    return allowed and at or at + retry
end

-- The same where an override ends.
local function first_pass(link, at)
    if at < link.ends then
        local passes = passes_under(link, at)
        if passes < link.ends then
            return passes
        end
        at = link.ends
    end
    return passes_under(link.own, at)
end

local function look_at(link)
    local allowed, remaining, retry, reset = link.rule.look(link)
    if link.own and not allowed then
        retry = first_pass(link, now) - now
    end
    return allowed, remaining, retry, reset
end

local function affordable(links)
    for _, link in ipairs(links) do
        if link.cost > link.limit then
            return false
        end
    end
    return true
end
