-- Works whose time has come, and what operators change about all of them.
--
-- Locks, in this order: the terms (advisory, class 7305: takes share it, changes of terms exclude them), works,
-- what pools have sent in ascending order of pools, the keeper. A take waits for no work that others hold; who
-- settles or replays locks works in byte order of their events.

-- The node that this session is of, for what it says to all: nodes pass over what they said themselves. Empty: it is
-- an application's.
create or replace function sluice.node() returns text
language sql stable
return coalesce(current_setting('sluice.node', true), '');

-- Works as they are to be shown: what an endpoint parked that was let go since only waits.
create or replace view sluice.shown_work as
select w.event_id, w.wndw_config_nm, w.pool_nm, w.host_nm, w.endpoint_nm, w.target_cd, w.sched_ts, w.weight_ct,
       w.expires_ts,
       case when w.state_cd <> 6 then w.state_cd
            when exists (select from sluice.dispatch_hold h where h.subject_cd = 4 and h.subject_nm = w.endpoint_nm)
                then w.state_cd
            when w.attempt_ct > 0 then 4::smallint else 1::smallint end as state_cd,
       w.lane_cd, w.lane_nm, w.due_ts, w.attempt_ct, w.try_ct, w.line_ct
from sluice.work w;

-- Until the end of the transaction the terms that are read from the next statement on are in force.
create or replace function sluice.share_terms() returns void
language sql as $$
    select pg_advisory_xact_lock_shared(7305, hashtext(''))
$$;

-- Tells whether what was read of the terms is what they are.
create or replace function sluice.terms_version(out changes bigint, out newest_config integer)
language sql stable
return (coalesce((select t.version_no from sluice.dispatch_terms t), 0),
        coalesce((select max(c.config_no) from @tables@.rl_event_wndw_config c), 0));

-- Locks works of a lane whose time has come, the earliest first, but none that another transaction holds, nor
-- any before a_from; and, for each of their pools, the row of what it has sent in the window of now, which is
-- made when it is missing. Answers with these works in their order, what a judge has to know beside them, and
-- for those that nobody has routed yet where they go. Of what is missing, because a config or a pool is gone,
-- the columns are null.
create or replace function sluice.lock_due(a_kind smallint, a_name text, a_from bigint, a_most integer)
returns table (work sluice.work, now_ms bigint, size_ms bigint, cap integer, planned bigint, sent bigint,
    late bigint, address text)
language plpgsql as $$
#variable_conflict use_column
declare
    at_ms constant bigint := sluice.limit_clock() / 1000;
    works sluice.work[];
begin
    select array_agg(due.w order by (due.w).due_ts, (due.w).event_id) into works
    from (select w from sluice.work w
          where w.lane_cd = a_kind and w.lane_nm = a_name and w.lane_cd <> 0
            and w.due_ts >= sluice.from_ms(a_from) and w.due_ts <= sluice.from_ms(at_ms)
          order by w.due_ts, w.event_id limit a_most
          for update skip locked) as due;
    if works is null then
        return;
    end if;
    insert into sluice.work_sent as s (pool_nm, wndw_strt_ts, sent_ct, late_ct)
    select p.pool_nm, sluice.from_ms(at_ms - at_ms % p.wndw_size_ms), 0, 0
    from sluice.pool p where p.pool_nm in (select w.pool_nm from unnest(works) as w) order by p.pool_nm
    on conflict (pool_nm, wndw_strt_ts) do update set sent_ct = s.sent_ct where false; -- Only locks it.
    return query
    with pools as materialized (
        select p.pool_nm, p.wndw_size_ms, s.sent_ct, s.late_ct, k.slot_ct
        from (select distinct w.pool_nm from unnest(works) as w) as named
        join sluice.pool p on p.pool_nm = named.pool_nm
        join sluice.work_sent s
            on s.pool_nm = p.pool_nm and s.wndw_strt_ts = sluice.from_ms(at_ms - at_ms % p.wndw_size_ms)
        left join @tables@.rl_wndw_ct k on k.pool_nm = s.pool_nm and k.wndw_strt_ts = s.wndw_strt_ts
    ), configs as materialized (
        select c.wndw_config_nm, c.wndw_max_event_ct
        from (select distinct w.wndw_config_nm from unnest(works) as w) as named
        join @tables@.rl_event_wndw_config c on c.wndw_config_nm = named.wndw_config_nm and c.act_in = 1
    )
    select (w.event_id, w.wndw_config_nm, w.pool_nm, w.host_nm, w.endpoint_nm, w.target_cd, w.sched_ts,
            w.weight_ct, w.expires_ts, w.state_cd, w.lane_cd, w.lane_nm, w.due_ts, w.attempt_ct, w.try_ct,
            w.line_ct)::sluice.work,
           at_ms, p.wndw_size_ms, c.wndw_max_event_ct, coalesce(p.slot_ct, 0)::bigint, p.sent_ct::bigint,
           p.late_ct::bigint,
           case when w.host_nm is null
                then (select o.address_tx from sluice.work_order o where o.event_id = w.event_id) end
    from unnest(works) with ordinality as w
    left join pools p on p.pool_nm = w.pool_nm
    left join configs c on c.wndw_config_nm = w.wndw_config_nm
    order by w.ordinality;
end
$$;

-- SLFNC when another fence is in force than this one, or none. Who would become the keeper waits until the end
-- of the transaction: then it sees all that was claimed under this fence. To be called in the round trip that
-- commits, so that nobody waits for this node.
create or replace function sluice.hold_fence(a_fence bigint) returns void
language plpgsql as $$
begin
    perform 1 from sluice.dispatch_keeper k where k.fence_no = a_fence for share;
    if not found then
        raise exception using errcode = 'SLFNC', message = 'Another node is the keeper by now.';
    end if;
end
$$;

-- Makes this node the keeper for so long, or keeps it so, and answers with its fence; null: another one is. A
-- term that ends later than any can was given by a clock that was set back since, and is over.
create or replace function sluice.keep(a_node text, a_lasts integer) returns bigint
language sql as $$
    insert into sluice.dispatch_keeper as k (node_nm, fence_no, until_ts)
    select a_node, 1, at.until_ts
    from (select sluice.from_ms(sluice.limit_clock() / 1000 + a_lasts) as until_ts) as at
    on conflict (only_one) do update
    set node_nm = excluded.node_nm, until_ts = excluded.until_ts,
        fence_no = k.fence_no + case when k.node_nm = excluded.node_nm then 0 else 1 end
    where k.node_nm = excluded.node_nm or k.until_ts > excluded.until_ts
       or k.until_ts + a_lasts * interval '1 millisecond' <= excluded.until_ts
    returning k.fence_no
$$;

-- Ends what these say cannot be sent, with the reason: whoever looks at the dead decides.
create or replace function sluice.bury_works(a_events text[], a_reasons text[], a_now bigint) returns void
language sql as $$
    with buried as (
        update sluice.work w
        set state_cd = 5, lane_cd = 8, lane_nm = '', due_ts = sluice.from_ms(a_now), line_ct = w.line_ct + 1
        from unnest(a_events, a_reasons) as named (event_id, reason)
        where w.event_id = named.event_id
        returning w.event_id, w.line_ct - 1 as line_no, w.attempt_ct, named.reason
    )
    insert into sluice.dispatch_audit (event_id, line_no, action_cd, at_ts, attempt_no, by_tx, error_tx)
    select b.event_id, b.line_no, 3, sluice.from_ms(a_now), b.attempt_ct, 'sluice', b.reason from buried b
$$;

-- A change of terms was made: others see that what they read is old, and are told.
create or replace function sluice.note_terms() returns void
language sql as $$
    insert into sluice.dispatch_terms as t (version_no) values (1)
    on conflict (only_one) do update set version_no = t.version_no + 1;
    select pg_notify('sluice', 'work terms ' || sluice.node());
$$;

-- No take is under way until the end of the transaction, so that none claims under terms that are to change. Gives
-- up (55P03) when those under way have not ended within 50 ms, and nobody waits behind it for longer.
create or replace function sluice.shut_terms() returns void
language plpgsql set lock_timeout = '50ms' as $$
begin
    perform pg_advisory_xact_lock(7305, hashtext(''));
end
$$;

create or replace function sluice.note_subject(a_kind smallint, a_name text, a_action smallint, a_by text)
returns void language sql as $$
    insert into sluice.dispatch_audit (subject_cd, subject_nm, action_cd, at_ts, by_tx)
    values (a_kind, a_name, a_action, sluice.from_ms(sluice.limit_clock() / 1000), a_by)
$$;

-- Each of these three answers whether it has changed anything.
create or replace function sluice.put_hold(a_kind smallint, a_name text, a_why smallint, a_by text)
returns boolean language plpgsql as $$
begin
    perform sluice.shut_terms();
    insert into sluice.dispatch_hold (subject_cd, subject_nm, why_cd, since_ts, by_tx)
    values (a_kind, a_name, a_why, sluice.from_ms(sluice.limit_clock() / 1000), a_by) on conflict do nothing;
    if found then
        perform sluice.note_subject(a_kind, a_name, 7::smallint, a_by);
        perform sluice.note_terms();
        return true;
    end if;
    perform sluice.vouch();
    return false;
end
$$;

create or replace function sluice.end_hold(a_kind smallint, a_name text, a_by text)
returns boolean language plpgsql as $$
begin
    perform sluice.shut_terms();
    delete from sluice.dispatch_hold h where h.subject_cd = a_kind and h.subject_nm = a_name;
    if found then
        perform sluice.note_subject(a_kind, a_name, 8::smallint, a_by);
        perform sluice.note_terms();
        return true;
    end if;
    perform sluice.vouch();
    return false;
end
$$;

-- a_rate null: it has none any more.
create or replace function sluice.put_rate(a_kind smallint, a_name text, a_rate integer, a_holds smallint, a_by text) returns boolean language plpgsql as $$
begin
    perform sluice.shut_terms();
    if a_rate is null then
        delete from sluice.dispatch_rate r where r.subject_cd = a_kind and r.subject_nm = a_name;
    else
        insert into sluice.dispatch_rate as r (subject_cd, subject_nm, max_per_second, holds_cd)
        values (a_kind, a_name, a_rate, a_holds)
        on conflict (subject_cd, subject_nm) do update
        set max_per_second = excluded.max_per_second, holds_cd = excluded.holds_cd
        where (r.max_per_second, r.holds_cd) <> (excluded.max_per_second, excluded.holds_cd);
    end if;
    if found then
        perform sluice.note_subject(a_kind, a_name, 9::smallint, a_by);
        perform sluice.note_terms();
        return true;
    end if;
    perform sluice.vouch();
    return false;
end
$$;

-- Puts endpoints on hold that have said that they are gone. Without shutting the terms: who is sent something
-- all the same says so again.
create or replace function sluice.park_endpoints(a_names text[], a_by text[], a_now bigint)
returns bigint language plpgsql as $$
declare
    parked bigint;
begin
    with held as (
        insert into sluice.dispatch_hold (subject_cd, subject_nm, why_cd, since_ts, by_tx)
        select 4, named.name, 2, sluice.from_ms(a_now), named.by_tx
        from unnest(a_names, a_by) as named (name, by_tx) order by named.name collate "C"
        on conflict do nothing
        returning subject_nm, by_tx
    ), lines as (
        insert into sluice.dispatch_audit (subject_cd, subject_nm, action_cd, at_ts, by_tx)
        select 4, h.subject_nm, 7, sluice.from_ms(a_now), h.by_tx from held h
    )
    select count(*) into parked from held;
    if parked > 0 then
        perform sluice.note_terms();
    end if;
    return parked;
end
$$;
