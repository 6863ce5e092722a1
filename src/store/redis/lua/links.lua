-- A link is a key under a plan: five arguments (rule, cost, limit, a, b; a capital letter is shadow mode) and
-- what the key's hash holds. Field `v` names the layout of the state, and so the rule that wrote it. Field `o`
-- is an override, whose state has fields of the same names behind `o:`.
local layouts = {}
for _, rule in pairs(rules) do
    layouts[rule.version] = true
end

-- Nothing: the hash was written by another version.
local function read_state(link, prefix, fields)
    local t, ts, s, v = unpack(fields)
    if v and not layouts[v] then
        return nil
    end
    link.prefix = prefix
    link.rule = rules[link.letter]
    link.known = v == link.rule.version
    link.other = v and not link.known -- The plan had another algorithm: it begins anew.
    if not link.known then
        link.rule.fresh(link)
    elseif link.letter == 'b' then
        link.level, link.at = unpacked('>d', t), unpacked('>i8', ts)
    else
        link.rule.read(link, s)
    end
    return link
end

local function open_link(i)
    local base = 5 * i - 3
    local letter = string.lower(ARGV[base])
    local link = {key = KEYS[i], letter = letter, shadow = letter ~= ARGV[base], cost = tonumber(ARGV[base + 1]),
        limit = tonumber(ARGV[base + 2]), a = tonumber(ARGV[base + 3]), b = tonumber(ARGV[base + 4])}
    local fields = call('HMGET', link.key, 't', 'ts', 's', 'v', 'o')
    local o = fields[5]
    if not o then
        return read_state(link, '', fields)
    end
    if string.sub(o, 1, 1) ~= '1' then
        return nil
    end
    local ends, rule, limit, a, b = unpacked('>i8c1i8i8i8', o, 2)
    if now >= ends then
        link.expired = true
        return read_state(link, '', fields)
    end
    link.overridden = true
    link.letter, link.limit, link.a, link.b = rule, limit, a, b
    return read_state(link, 'o:', call('HMGET', link.key, 'o:t', 'o:ts', 'o:s', 'o:v'))
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

local function write_link(link)
    local key, prefix, rule = link.key, link.prefix, link.rule
    if link.expired then
        call('HDEL', key, 'o', 'o:t', 'o:ts', 'o:s', 'o:v')
    end
    if link.other then
        call('HDEL', key, prefix .. 't', prefix .. 'ts', prefix .. 's')
    end
    if link.letter == 'b' then
        call('HSET', key, prefix .. 't', pack('>d', link.level), prefix .. 'ts', pack('>i8', link.at),
            prefix .. 'v', rule.version)
    else
        call('HSET', key, prefix .. 's', rule.write(link), prefix .. 'v', rule.version)
    end
    keep_until(key, rule.idle(link), link.overridden)
end

local function affordable(links)
    for _, link in ipairs(links) do
        if link.cost > link.limit then
            return false
        end
    end
    return true
end
