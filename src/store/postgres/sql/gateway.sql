-- The gateway: the rules of src/core/gateway and of GatewayStore once more, for batches. A test keeps both texts
-- equal.
--
-- Locks: rows of "PostgresEntity" in ascending order, then rows of sluice.gateway_message in byte order. Which
-- message a request is, and anew under which window, changes under the lock of its user only.
-- Patient: waits for others as long as lock_timeout allows, and fails then. Otherwise waits for nobody.

-- A window's start as the rules know it, in whole milliseconds; an application may have written it more exactly.
create or replace function sluice.floor_ms(a_moment timestamptz) returns bigint
language sql stable strict parallel safe
return floor(extract(epoch from a_moment) * 1000)::bigint;

-- The moment by the clock that decides, in milliseconds.
create or replace function sluice.gateway_clock() returns bigint
language sql volatile
return sluice.limit_clock() / 1000;

-- Why "PostgresEntity" cannot be used as it is: one sentence. Null: it can.
create or replace function sluice.gateway_complaint() returns text
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
    users constant regclass := to_regclass('@tables@."PostgresEntity"');
    wanted record;
    has_type text;
begin
    if users is null then
        return 'table @tables@."PostgresEntity" is not there any more';
    end if;
    for wanted in select * from (values ('userId', 'integer'), ('rateLimit', 'integer'), ('timeWindow', 'integer'),
            ('currentCount', 'integer'), ('lastRefreshTime', 'timestamp with time zone')) as w (name, type) loop
        select format_type(a.atttypid, null) into has_type from pg_attribute a
        where a.attrelid = users and a.attname = wanted.name and not a.attisdropped;
        if not found then
            return format('table %s cannot be used by the gateway: it has no column %I', users, wanted.name);
        elsif has_type <> wanted.type then
            return format('table %s cannot be used by the gateway: column %I is of type %s and must be %s', users,
                wanted.name, has_type, wanted.type);
        end if;
    end loop;
    if not exists (select from pg_index i join pg_attribute a on a.attrelid = users and a.attnum = i.indkey[0]
                   where i.indrelid = users and i.indisprimary and i.indnkeyatts = 1 and a.attname = 'userId') then
        return format('table %s cannot be used by the gateway: "userId" is not its primary key', users);
    end if;
    select string_agg(format('%I', a.attname), ', ' order by a.attnum) into has_type from pg_attribute a
    where a.attrelid = users and a.attnum > 0 and not a.attisdropped and a.attnotnull and not a.atthasdef
      and a.attidentity = ''
      and a.attname not in ('userId', 'rateLimit', 'timeWindow', 'currentCount', 'lastRefreshTime');
    if has_type is not null then
        return format('table %s cannot be used by the gateway: nobody would fill its column %s', users, has_type);
    end if;
    if not (has_table_privilege(users, 'select') and has_table_privilege(users, 'insert')
            and has_table_privilege(users, 'update')) then
        return format('the PostgreSQL role lacks rights on table %s: select, insert and update', users);
    end if;
    return null;
end
$$;

-- A user's row as a window. A table that was there before may hold what no terms are.
create or replace function sluice.gateway_window_of(a_limit integer, a_minutes integer, a_count integer,
    a_started timestamptz) returns sluice.gateway_window
language sql stable
return case
    when a_limit is not null and a_minutes >= 1 and a_count is not null and a_started >= '0001-01-01Z'
        and a_started < '9999-01-01Z' then row(a_limit, a_minutes, a_count, a_started, null)::sluice.gateway_window
    else row(null, null, null, null, 2)::sluice.gateway_window
end;

-- The windows of users, locked in the order given, which is the ascending one. Null: there is no such user.
create or replace function sluice.lock_gateway_users(a_users integer[], a_patient boolean)
returns sluice.gateway_window[] language plpgsql as $$
declare
    windows sluice.gateway_window[] := array_fill(null::sluice.gateway_window, array[cardinality(a_users)]);
    wanted record;
begin
    if a_patient then
        for wanted in
            select w.no, u."rateLimit", u."timeWindow", u."currentCount", u."lastRefreshTime"
            from unnest(a_users) with ordinality as w (user_no, no)
            join @tables@."PostgresEntity" u on u."userId" = w.user_no
            order by w.no for no key update of u
        loop
            windows[wanted.no] := sluice.gateway_window_of(wanted."rateLimit", wanted."timeWindow",
                wanted."currentCount", wanted."lastRefreshTime");
        end loop;
        return windows;
    end if;
    for wanted in -- Held, as long as nobody has found them free.
        select w.no from unnest(a_users) with ordinality as w (user_no, no)
        join @tables@."PostgresEntity" u on u."userId" = w.user_no
    loop
        windows[wanted.no] := row(null, null, null, null, 1)::sluice.gateway_window;
    end loop;
    for wanted in
        select w.no, u."rateLimit", u."timeWindow", u."currentCount", u."lastRefreshTime"
        from unnest(a_users) with ordinality as w (user_no, no)
        join @tables@."PostgresEntity" u on u."userId" = w.user_no
        order by w.no for no key update of u skip locked
    loop
        windows[wanted.no] := sluice.gateway_window_of(wanted."rateLimit", wanted."timeWindow",
            wanted."currentCount", wanted."lastRefreshTime");
    end loop;
    return windows;
end
$$;

-- Writes windows back. REQUIRES: their locks.
create or replace function sluice.keep_gateway_users(a_users integer[], a_windows sluice.gateway_window[],
    a_changed boolean[]) returns void
language plpgsql as $$
begin
    if true = any (a_changed) then
        update @tables@."PostgresEntity" u
        set "currentCount" = w.sent_ct, "lastRefreshTime" = w.wndw_strt_ts
        from unnest(a_windows) with ordinality as w
        where a_changed[w.ordinality] and u."userId" = a_users[w.ordinality];
    end if;
end
$$;

-- Locks those of the messages that there are, in their byte order, and names them.
create or replace function sluice.lock_gateway_messages(a_ids text[], a_patient boolean) returns text[]
language plpgsql as $$
begin
    if a_patient then
        return array(select m.message_id from sluice.gateway_message m where m.message_id = any (a_ids)
                     order by m.message_id for update);
    end if;
    return array(select m.message_id from sluice.gateway_message m where m.message_id = any (a_ids)
                 order by m.message_id for update skip locked);
end
$$;

-- The messages that requests of users are known as, locked. Null: it is not known. One that another transaction
-- holds has handed_ct 0. REQUIRES: the users' locks; what is not locked changes nothing here.
create or replace function sluice.lock_gateway_requests(a_users integer[], a_requests text[], a_now bigint,
    a_patient boolean) returns sluice.gateway_message[]
language plpgsql as $$
declare
    messages sluice.gateway_message[] :=
        array_fill(null::sluice.gateway_message, array[cardinality(a_users)]);
    known constant text[] := array(
        select q.message_id from unnest(a_users, a_requests) with ordinality as r (user_no, request_tx, no)
        left join sluice.gateway_request q on q.user_no = r.user_no and q.request_tx = r.request_tx
            and q.reserved_ts > sluice.from_ms(a_now) - interval '24 hours'
        order by r.no);
    free text[];
    wanted record;
    message sluice.gateway_message;
begin
    if array_remove(known, null) = '{}' then
        return messages;
    end if;
    free := sluice.lock_gateway_messages(array_remove(known, null), a_patient);
    for wanted in
        select k.no, m as found from unnest(known) with ordinality as k (message_id, no)
        join sluice.gateway_message m on m.message_id = k.message_id
    loop
        message := wanted.found;
        if message.message_id <> all (free) then
            message.handed_ct := 0;
        end if;
        messages[wanted.no] := message;
    end loop;
    return messages;
end
$$;

-- Decides a batch of messages that ask for places, in their order. a_users are all users, ascending, each once;
-- a_owners and a_requests are all requests, each once (one without a request id is null): whose, and by what name.
-- Each message says which of them it is. With a_outbox what was granted waits for the sender, and the texts are
-- needed.
create or replace function sluice.reserve_messages(a_users integer[], a_owners integer[], a_requests text[],
    a_places integer[], a_ids text[], a_validities bigint[], a_texts bytea[], a_to text[], a_from text[],
    a_outbox boolean, a_patient boolean)
returns setof sluice.gateway_reply language plpgsql
set search_path = pg_catalog, pg_temp set enable_hashjoin = off set enable_mergejoin = off
set enable_seqscan = off set jit = off as $$
declare
    windows sluice.gateway_window[] := sluice.lock_gateway_users(a_users, a_patient);
    now_ms constant bigint := sluice.gateway_clock(); -- Read once the users are locked.
    messages sluice.gateway_message[];
    counted boolean[] := array_fill(false, array[cardinality(a_users)]);
    changed boolean[] := array_fill(false, array[cardinality(a_owners)]);
    anew boolean[] := array_fill(false, array[cardinality(a_owners)]);
    waiting integer[] := '{}'; -- Which of a_ids wait for the sender now.
    own sluice.gateway_window;
    message sluice.gateway_message;
    reply sluice.gateway_reply;
    owner integer;
    place integer;
    started bigint;
    ends bigint;
begin
    messages := sluice.lock_gateway_requests(array(select a_users[o.user_at] from unnest(a_owners) with ordinality
        as o (user_at, no) order by o.no), a_requests, now_ms, a_patient);
    for i in 1 .. cardinality(a_ids) loop
        place := a_places[i];
        owner := a_owners[place];
        own := windows[owner];
        message := messages[place];
        reply := null;
        started := sluice.floor_ms(own.wndw_strt_ts);
        ends := started + own.minutes_ct::bigint * 60000;
        if own.fault_cd is not null then
            reply.fault_cd := own.fault_cd;
        elsif own.wndw_strt_ts is null then
            reply.verdict_cd := 4; -- UnknownUser
        elsif message.handed_ct = 0 then
            reply.fault_cd := 1;
        elsif message.acknowledged then
            reply.verdict_cd := 2; -- Accepted
        elsif message.state_cd = 0 and message.wndw_strt_ts = own.wndw_strt_ts and now_ms < ends then
            reply.verdict_cd := 1; -- Standing
            message.handed_ct := message.handed_ct + 1;
        else
            if now_ms >= ends then
                own.sent_ct := 0;
                own.wndw_strt_ts := sluice.from_ms(now_ms);
            end if;
            if own.sent_ct < own.limit_ct then
                reply.verdict_cd := 0; -- Granted
                own.sent_ct := greatest(own.sent_ct, 0) + 1;
                windows[owner] := own;
                counted[owner] := true;
                -- Two windows that begin in one millisecond look alike to who settles: nothing is given back then.
                message.handed_ct := case when message.state_cd = 0
                        and sluice.floor_ms(message.wndw_strt_ts) = sluice.floor_ms(own.wndw_strt_ts)
                    then message.handed_ct + 1 else 1 end;
                message.message_id := coalesce(message.message_id, a_ids[i]);
                message.user_no := a_users[owner];
                message.state_cd := 0;
                message.queued_ts := sluice.from_ms(now_ms);
                message.changed_ts := message.queued_ts;
                message.wndw_strt_ts := own.wndw_strt_ts;
                message.acknowledged := false;
                message.expires_ts := sluice.from_ms(now_ms + a_validities[i]);
                anew[place] := true;
            else
                reply.verdict_cd := 3; -- Denied
                reply.retry_ms := sluice.floor_ms(own.wndw_strt_ts) + own.minutes_ct::bigint * 60000 - now_ms;
            end if;
        end if;
        if reply.verdict_cd <= 2 then
            if a_outbox and reply.verdict_cd < 2 then
                waiting := waiting || i;
                message.acknowledged := true;
                reply.verdict_cd := case reply.verdict_cd when 1 then 2 else 0 end;
            end if;
            if message is distinct from messages[place] then
                messages[place] := message;
                changed[place] := true;
            end if;
            reply.message_id := message.message_id;
            reply.window_ms := sluice.floor_ms(message.wndw_strt_ts);
            reply.expires_ms := sluice.floor_ms(message.expires_ts);
        end if;
        return next reply;
    end loop;
    perform sluice.keep_gateway_users(a_users, windows, counted);
    if true = any (changed) then
        insert into sluice.gateway_message as m (message_id, user_no, state_cd, queued_ts, changed_ts, wndw_strt_ts,
            handed_ct, acknowledged, expires_ts)
        select n.message_id, n.user_no, n.state_cd, n.queued_ts, n.changed_ts, n.wndw_strt_ts, n.handed_ct,
            n.acknowledged, n.expires_ts
        from unnest(messages) with ordinality as n
        where changed[n.ordinality]
        on conflict (message_id) do update
        set state_cd = excluded.state_cd, queued_ts = excluded.queued_ts, changed_ts = excluded.changed_ts,
            wndw_strt_ts = excluded.wndw_strt_ts, handed_ct = excluded.handed_ct,
            acknowledged = excluded.acknowledged, expires_ts = excluded.expires_ts;
    end if;
    if true = any (anew) then
        insert into sluice.gateway_request as q (user_no, request_tx, message_id, reserved_ts)
        select a_users[a_owners[r.no]], r.request_tx, (messages[r.no]).message_id, sluice.from_ms(now_ms)
        from unnest(a_requests) with ordinality as r (request_tx, no)
        where anew[r.no] and r.request_tx is not null
        on conflict (user_no, request_tx) do update
        set message_id = excluded.message_id, reserved_ts = excluded.reserved_ts;
    end if;
    if cardinality(waiting) > 0 then
        insert into sluice.gateway_outbox (message_id, user_no, message_by, to_nm, from_nm, expires_ts)
        select (messages[a_places[w.i]]).message_id, (messages[a_places[w.i]]).user_no, a_texts[w.i], a_to[w.i],
            a_from[w.i], (messages[a_places[w.i]]).expires_ts
        from unnest(waiting) with ordinality as w (i, no) order by w.no;
    end if;
end
$$;

-- Settles publications: outcome 0 acknowledged, 1 not published for certain. Answers how many it left alone
-- because another transaction holds a row.
create or replace function sluice.settle_messages(a_ids text[], a_owners integer[], a_windows bigint[],
    a_outcomes integer[], a_patient boolean) returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp set enable_hashjoin = off set enable_mergejoin = off
set enable_seqscan = off set jit = off as $$
declare
    users constant integer[] := array(
        select distinct s.user_no from unnest(a_owners, a_outcomes) as s (user_no, outcome)
        where s.outcome = 1 order by s.user_no);
    windows sluice.gateway_window[] := sluice.lock_gateway_users(users, a_patient);
    free constant text[] := sluice.lock_gateway_messages(a_ids, a_patient);
    counted boolean[] := array_fill(false, array[cardinality(users)]);
    handed_over text[] := '{}';
    failed text[] := '{}';
    held bigint := (select count(*) from sluice.gateway_message m
                    where m.message_id = any (a_ids) and m.message_id <> all (free));
    place integer;
    settled record;
begin
    for settled in
        select distinct on (m.message_id) m.message_id, m.user_no, m.wndw_strt_ts, s.outcome
        from unnest(a_ids, a_windows, a_outcomes) with ordinality as s (message_id, window_ms, outcome, no)
        join sluice.gateway_message m on m.message_id = s.message_id
        where m.message_id = any (free) and m.state_cd = 0 and not m.acknowledged
          and sluice.floor_ms(m.wndw_strt_ts) = s.window_ms
          and (s.outcome = 0 or m.handed_ct = 1) -- Another publication of it may arrive.
        order by m.message_id, s.no
    loop
        place := array_position(users, settled.user_no);
        if settled.outcome = 0 then
            handed_over := handed_over || settled.message_id;
        elsif (windows[place]).fault_cd = 1 then
            held := held + 1;
        else
            failed := failed || settled.message_id;
            if (windows[place]).wndw_strt_ts = settled.wndw_strt_ts and (windows[place]).sent_ct > 0 then
                windows[place].sent_ct := (windows[place]).sent_ct - 1;
                counted[place] := true;
            end if;
        end if;
    end loop;
    if cardinality(handed_over) > 0 then
        update sluice.gateway_message m set acknowledged = true where m.message_id = any (handed_over);
    end if;
    if cardinality(failed) > 0 then
        update sluice.gateway_message m
        set state_cd = 2, changed_ts = sluice.from_ms(sluice.gateway_clock())
        where m.message_id = any (failed);
    end if;
    perform sluice.keep_gateway_users(users, windows, counted);
    return held;
end
$$;

-- Sets a user's terms and begins a window; answers when. Two of one millisecond are told apart by a microsecond:
-- what was granted in the first must not be given back in the second.
create or replace function sluice.put_gateway_user(a_user integer, a_limit integer, a_minutes integer)
returns bigint language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
    started timestamptz;
begin
    insert into @tables@."PostgresEntity" as u ("userId", "rateLimit", "timeWindow", "currentCount",
        "lastRefreshTime")
    values (a_user, a_limit, a_minutes, 0, sluice.from_ms(sluice.gateway_clock()))
    on conflict ("userId") do update
    set "rateLimit" = excluded."rateLimit", "timeWindow" = excluded."timeWindow", "currentCount" = 0,
        "lastRefreshTime" = (
            select case when u."lastRefreshTime" >= now_ts and u."lastRefreshTime" < now_ts + interval '1 millisecond'
                then u."lastRefreshTime" + interval '1 microsecond' else now_ts end
            from (select sluice.from_ms(sluice.gateway_clock()) as now_ts offset 0) as read_once)
    returning u."lastRefreshTime" into started;
    return sluice.floor_ms(started);
end
$$;

-- A user's row as it is.
create or replace function sluice.find_gateway_user(a_user integer)
returns table (limit_ct integer, minutes_ct integer, sent_ct integer, window_ms bigint, fault_cd smallint)
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
    return query
    select w.limit_ct, w.minutes_ct, w.sent_ct, sluice.floor_ms(w.wndw_strt_ts), w.fault_cd
    from @tables@."PostgresEntity" u,
        sluice.gateway_window_of(u."rateLimit", u."timeWindow", u."currentCount", u."lastRefreshTime") as w
    where u."userId" = a_user;
end
$$;

-- What is told of a message.
create or replace function sluice.find_gateway_message(a_id text)
returns table (user_no integer, state_cd smallint, queued_ms bigint, changed_ms bigint)
language sql stable set search_path = pg_catalog, pg_temp as $$
    select m.user_no, m.state_cd, sluice.floor_ms(m.queued_ts), sluice.floor_ms(m.changed_ts)
    from sluice.gateway_message m
    where m.message_id = a_id and m.queued_ts > sluice.from_ms(sluice.gateway_clock()) - interval '7 days'
$$;

-- What waits for the sender, the oldest first: what nobody has claimed, or not any more, and what this sender has.
-- Claimed by it from now on for so long.
create or replace function sluice.claim_outbox(a_sender text, a_lease bigint, a_most integer)
returns table (number_no bigint, message_id text, user_no integer, message_by bytea, to_nm text, from_nm text,
    expires_ms bigint)
language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off as $$
#variable_conflict use_column
declare
    now_ms constant bigint := sluice.gateway_clock();
begin
    return query
    with free as (
        select o.number_no from sluice.gateway_outbox o
        where o.sender_nm = a_sender or o.claimed_ts is null or o.claimed_ts <= sluice.from_ms(now_ms)
        order by o.number_no limit a_most for update skip locked
    ), claimed as (
        update sluice.gateway_outbox o set sender_nm = a_sender, claimed_ts = sluice.from_ms(now_ms + a_lease)
        from free where o.number_no = free.number_no
        returning o.*
    )
    select c.number_no, c.message_id, c.user_no, c.message_by, c.to_nm, c.from_nm, sluice.floor_ms(c.expires_ts)
    from claimed c order by c.number_no;
end
$$;

-- Messages that wait no more, and what became of them. Answers how many it left because another transaction holds
-- a row. What somebody else has closed is left as it is.
create or replace function sluice.close_outbox(a_numbers bigint[], a_ids text[], a_states smallint[],
    a_patient boolean) returns bigint
language plpgsql set search_path = pg_catalog, pg_temp set enable_hashjoin = off set enable_mergejoin = off
set enable_seqscan = off set jit = off as $$
declare
    free constant text[] := sluice.lock_gateway_messages(a_ids, a_patient);
    held constant text[] := array(select m.message_id from sluice.gateway_message m
                                  where m.message_id = any (a_ids) and m.message_id <> all (free));
begin
    with gone as (
        delete from sluice.gateway_outbox o
        using unnest(a_numbers, a_states) as c (number_no, state_cd)
        where o.number_no = c.number_no and o.message_id <> all (held)
        returning o.message_id, c.state_cd
    )
    update sluice.gateway_message m
    set state_cd = g.state_cd, changed_ts = sluice.from_ms(sluice.gateway_clock())
    from gone g where m.message_id = g.message_id;
    return cardinality(held);
end
$$;

-- Removes at most so many requests that are too old to be known, and as many messages that are not told of any
-- more, the oldest first, but for those that somebody holds. Answers how many of the more numerous kind.
create or replace function sluice.sweep_gateway(a_most integer) returns bigint
language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
declare
    now_ts constant timestamptz := sluice.from_ms(sluice.gateway_clock());
    requests bigint;
    messages bigint;
begin
    delete from sluice.gateway_request q
    where q.ctid = any (array(
        select i.ctid from sluice.gateway_request i where i.reserved_ts <= now_ts - interval '24 hours'
        order by i.reserved_ts limit a_most for update skip locked));
    get diagnostics requests = row_count;
    delete from sluice.gateway_message m
    where m.ctid = any (array(
        select i.ctid from sluice.gateway_message i where i.queued_ts <= now_ts - interval '7 days'
        order by i.queued_ts limit a_most for update skip locked));
    get diagnostics messages = row_count;
    return greatest(requests, messages);
end
$$;
