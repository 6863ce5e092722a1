-- What is to be sent at the times of slots: the orders, how far each is, and what became of it. Numbers stand
-- for the enumerators of src/core/dispatch/work.hpp and src/app/dispatch/work_store.hpp.

-- What a work asks for. Written once, with its slot, and never changed.
create table sluice.work_order (
    event_id         sluice.event_id primary key,
    target_cd        smallint not null,            -- 1 log, 2 webhook, 3 kafka
    address_tx       text not null,                -- The URL, or the topic.
    host_nm          text collate "C",             -- Null: it came by SQL, and whoever takes it first reads
    endpoint_nm      text collate "C",             -- where it goes.
    payload          bytea not null,
    expires_after_ms bigint,
    traceparent_tx   text not null default ''
);

-- How a work stands. Rewritten with every step, so that it is kept small and room is left in its page.
create table sluice.work (
    event_id       sluice.event_id primary key,
    wndw_config_nm text collate "C" not null,
    pool_nm        text collate "C" not null,
    host_nm        text collate "C", -- As in its order.
    endpoint_nm    text collate "C",
    target_cd      smallint not null,
    sched_ts       timestamptz not null,
    weight_ct      integer not null,
    expires_ts     timestamptz,      -- Not begun by then it is not sent any more.
    state_cd       smallint not null default 1,
    lane_cd        smallint not null default 1, -- Where it waits; 0: it is over, and waits nowhere.
    lane_nm        text collate "C" not null default '',
    due_ts         timestamptz not null,
    attempt_ct     integer not null default 0,
    try_ct         integer not null default 0,
    line_ct        integer not null default 0   -- How many lines the audit has of it.
) with (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.05);
-- Every lane in the order in which it is looked at. What is over is not in it.
create index work_i01x on sluice.work (lane_cd, lane_nm, due_ts, event_id) where lane_cd <> 0;

-- Every attempt, and what somebody did: of works by their event, of others by their subject. Only ever added to.
create table sluice.dispatch_audit (
    line_id     bigint generated always as identity primary key,
    event_id    text collate "C",     -- Null: the line is about a subject.
    line_no     integer,
    subject_cd  smallint,             -- 1 config, 2 pool, 3 host, 4 endpoint
    subject_nm  text collate "C",
    action_cd   smallint not null,
    at_ts       timestamptz not null,
    attempt_no  integer not null default 0,
    status_no   integer not null default 0,
    latency_ms  bigint not null default 0,
    by_tx       text not null default '',
    error_tx    text not null default '',
    excerpt_tx  text not null default ''
);
create index dispatch_audit_i01x on sluice.dispatch_audit (event_id, line_no) where event_id is not null;
create index dispatch_audit_i02x on sluice.dispatch_audit using brin (at_ts)
    with (pages_per_range = 32, autosummarize = on);

-- What a pool has sent in a window. Whoever claims work of the pool locks the row.
create table sluice.work_sent (
    pool_nm      text collate "C" not null,
    wndw_strt_ts timestamptz not null,
    sent_ct      sluice.places not null,
    late_ct      sluice.places not null,
    primary key (pool_nm, wndw_strt_ts)
) with (fillfactor = 40);

create table sluice.dispatch_hold (
    subject_cd smallint not null,
    subject_nm text collate "C" not null,
    why_cd     smallint not null,     -- 1 paused, 2 gone
    since_ts   timestamptz not null,
    by_tx      text not null,
    primary key (subject_cd, subject_nm)
);

create table sluice.dispatch_rate (
    subject_cd     smallint not null,
    subject_nm     text collate "C" not null,
    max_per_second integer not null check (max_per_second between 1 and 100000),
    holds_cd       smallint not null, -- 0 receiver, 1 sender
    primary key (subject_cd, subject_nm)
);

-- Counts the changes of holds and rates, so that whoever has read them knows by it whether they still hold: at
-- most one row. Configs, whose numbers rise, count themselves.
create table sluice.dispatch_terms (
    only_one   boolean primary key default true check (only_one),
    version_no bigint not null
);

-- Who sends what passes a gate: at most one row.
create table sluice.dispatch_keeper (
    only_one boolean primary key default true check (only_one),
    node_nm  text not null,
    fence_no bigint not null,
    until_ts timestamptz not null
);

-- Permits of the keeper that were given to others, who make the calls.
create table sluice.dispatch_permit (
    permit_id  text collate "C" primary key,
    subject_cd smallint not null,
    subject_nm text collate "C" not null,
    until_ts   timestamptz not null
);

-- What a config says of the work of its slots. Null: nothing of its own.
alter table @tables@.rl_event_wndw_config
    add column max_per_second   integer check (max_per_second between 1 and 100000),
    add column rate_holds_cd    smallint not null default 0 check (rate_holds_cd in (0, 1)),
    add column expires_after_ms bigint,
    add column retry_ms         bigint[];

-- Whether the event brought work: its slot then has an order and a work.
alter table @tables@.rl_event_slot_dtl add column work_in boolean not null default false;

-- What an event brings along: an order to be. Without a target it brings nothing.
create type sluice.brought_work as (event_id text, target_cd smallint, address_tx text, host_nm text,
    endpoint_nm text, payload bytea, expires_after_ms bigint, traceparent_tx text);

-- They know nothing of work. What takes their place is made with the other functions, and has defaults, so that
-- older nodes can call it.
drop function if exists sluice.put_config(text, integer, bigint, text, text, bigint, integer, timestamptz,
    integer, integer);
drop function if exists sluice.take_slot(text, text, bigint, integer, bigint, timestamptz);
drop function if exists sluice.store_slots(timestamptz, text[], text[], text[], bigint[], bigint[], bigint[],
    integer[], bigint[], text[]);
drop function if exists sluice.cancel_slot(text, timestamptz);
drop function if exists sluice.move_slot(text, bigint, timestamptz);

-- Applications call this one: those who may, may call what takes its place. The function itself is made with the
-- others, right behind this.
create function sluice.assign_slot(inout event_id text, config_name text, requested_time timestamptz,
    weight integer default 1, max_delay interval default null, target jsonb default null,
    payload jsonb default null, out scheduled_time timestamptz, out delay_ms bigint,
    out window_start timestamptz)
language plpgsql as $$
begin
    raise exception using errcode = 'SL409', message = 'Sluice is being updated.';
end
$$;
revoke execute on function sluice.assign_slot(text, text, timestamptz, integer, interval, jsonb, jsonb) from public;
do $$
declare
    given record;
begin
    for given in
        select r.rolname, a.is_grantable
        from pg_proc p, aclexplode(p.proacl) a, pg_roles r
        where p.oid = to_regprocedure('sluice.assign_slot(text, text, timestamptz, integer, interval)')
          and a.privilege_type = 'EXECUTE' and r.oid = a.grantee and a.grantee <> p.proowner
    loop
        execute format('grant execute on function sluice.assign_slot(text, text, timestamptz, integer, interval,'
            ' jsonb, jsonb) to %I %s', given.rolname, case when given.is_grantable then 'with grant option' end);
    end loop;
end
$$;
drop function if exists sluice.assign_slot(text, text, timestamptz, integer, interval);
