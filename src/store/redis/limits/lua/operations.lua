-- What a call may ask for, by ARGV[1]. It answers {-1} when a cost is above what a rule could ever allow, and
-- {-2} when a hash was written by another version: then nothing was changed.
local operations = {}

-- The link that keeps the check waiting longest, among those in shadow mode or among the others.
local function denier(links, shadow)
    local worst
    for i, link in ipairs(links) do
        if not link.allowed and link.shadow == shadow and (not worst or link.retry > links[worst].retry) then
            worst = i
        end
    end
    return worst
end

local function tightest(links)
    local least = 1
    for i, link in ipairs(links) do
        if link.remaining < links[least].remaining then
            least = i
        end
    end
    return least
end

-- The first moment from `at` on at which none of the links keeps the check waiting: one that passes now may not
-- any more when its override ends.
local function pass_together(links, at)
    local moved = true
    while moved do
        moved = false
        for _, link in ipairs(links) do
            local passes = link.own and not link.shadow and first_pass(link, at) or at
            if passes > at then
                at, moved = passes, true
            end
        end
    end
    return at
end

-- Charges all that allow it; says the lease, or 0.
local function charge_all(links, lease)
    local held = 0
    for _, link in ipairs(links) do
        if link.allowed and link.cost > 0 then
            link.rule.charge(link, lease)
            write_link(link)
            held = link.letter == 'p' and lease or held
        end
    end
    return held
end

-- Who would hold the places of a concurrency plan follows the links.
function operations.take(links)
    if not affordable(links) then
        return {-1}
    end
    for _, link in ipairs(links) do
        link.allowed, link.remaining, link.retry, link.reset = look_at(link)
    end
    local denied = denier(links, false)
    local shadowed = not denied and denier(links, true)
    local speaker = denied or shadowed or tightest(links)
    local lease = denied and 0 or charge_all(links, tonumber(ARGV[5 * #links + 2]))
    local link = links[speaker]
    if denied then
        link.retry = pass_together(links, now + link.retry) - now
    end
    local code = denied and 0 or shadowed and 2 or 1
    return {code, speaker - 1, link.limit, link.remaining, link.retry, link.reset, lease}
end

function operations.refund(links)
    if not affordable(links) then
        return {-1}
    end
    for _, link in ipairs(links) do
        if link.known then
            link.rule.refund(link)
            write_link(link)
        end
    end
    return {1}
end

-- The lease follows the link.
function operations.release(links)
    local link = links[1]
    if link.letter ~= 'p' or not link.known or not release_lease(link, tonumber(ARGV[7])) then
        return {0}
    end
    write_link(link)
    return {1}
end

function operations.inspect(links)
    local answer = {1}
    for _, link in ipairs(links) do
        local allowed, remaining, retry, reset = look_at(link)
        for _, number in ipairs({allowed and 1 or 0, link.limit, remaining, retry, reset, link.ends or 0}) do
            answer[#answer + 1] = number
        end
    end
    return answer
end

-- The plans that administrators put: a hash of names and words, which stays.
if ARGV[1] == 'shelf' then
    return {1, unpack(call('HGETALL', KEYS[1]))}
elseif ARGV[1] == 'shelve' then
    call('HSET', KEYS[1], ARGV[2], ARGV[3])
    return {1}
elseif ARGV[1] == 'unshelve' then
    call('HDEL', KEYS[1], ARGV[2])
    return {1}
end

-- Does not look at what it forgets, so that it also helps against a hash of another version.
if ARGV[1] == 'reset' then
    for _, key in ipairs(KEYS) do
        call('HDEL', key, 't', 'ts', 'v', 'o:t', 'o:ts', 'o:v', 'o:w', 'o:l', 'o:e', 'o:c', 'o:p', unpack(letters))
    end
    return {1}
end

-- The link is the override's rule; when it ends follows: 'at' a moment, or 'in' so many microseconds from now.
if ARGV[1] == 'override' then
    local key, ends = KEYS[1], tonumber(ARGV[8])
    if ARGV[7] == 'in' then
        ends = min(now + ends, 2 ^ 52 - 1)
    end
    forget_override(key) -- Each begins fresh.
    if now < ends then
        call('HSET', key, 'o', pack('>c1i8c1i8i8i8', layout, ends, ARGV[2], tonumber(ARGV[4]), tonumber(ARGV[5]),
            tonumber(ARGV[6])))
        keep_until(key, ends, 'NX')
    end
    return {1, ends}
end

local links = open_links()
if not links then
    return {-2}
end
return operations[ARGV[1]](links)
