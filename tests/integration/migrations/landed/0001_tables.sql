-- The tables of the slot store. @tables@ stands for the connection's first schema, quoted.
--
-- Names that callers choose are compared byte by byte (collate "C"): that is the order in which every
-- transaction locks them. Windows are kept by their start; a window without a row is empty.

-- What a row may hold is said by the types of its columns: the server reads a table's CHECK anew for every
-- statement, which takes longer than the statement's look-up, and a domain's once in a session.
create domain sluice.event_id as text collate "C" check (octet_length(value) between 1 and 255);
create domain sluice.weight as integer check (value >= 1);
create domain sluice.slot_state as smallint check (value in (1, 2)); -- assigned, cancelled
create domain sluice.places as bigint check (value between 0 and 4294967295);

-- The windows of a pool have one size. Counters are provisioned in chunks of `chunk_ct` windows.
create table sluice.pool (
    pool_nm      text collate "C" primary key,
    wndw_size_ms bigint not null check (wndw_size_ms > 0),
    chunk_ct     integer not null check (chunk_ct > 0)
);

create sequence sluice.config_number as integer;

create table @tables@.rl_event_wndw_config (
    rl_wndw_config_id    text collate "C" not null,
    wndw_config_nm       text collate "C" not null check (octet_length(wndw_config_nm) between 1 and 128),
    wndw_max_event_ct    integer not null check (wndw_max_event_ct between 1 and 1000000000),
    wndw_size_iso_dur_tx text not null,
    config_eff_strt_dt   timestamptz not null,
    act_in               smallint not null check (act_in in (0, 1)),
    creat_ts             timestamptz not null default clock_timestamp(),
    config_no            integer not null unique,
    pool_nm              text collate "C" not null references sluice.pool,
    wndw_size_ms         bigint not null,
    chunk_ct             integer not null, -- The pool's.
    max_lookahead_ct     bigint check (max_lookahead_ct >= 0),
    constraint rl_event_wndw_config_pk primary key (rl_wndw_config_id)
);
create index rl_event_wndw_config_i01x on @tables@.rl_event_wndw_config (wndw_config_nm, act_in);
create unique index rl_event_wndw_config_iux on @tables@.rl_event_wndw_config (wndw_config_nm)
    where act_in = 1;

-- One counter per window, and the row that whoever takes a place in the window locks. Room is left in each
-- page so that a changed counter stays in it and no index has to follow.
create table @tables@.rl_wndw_ct (
    pool_nm      text collate "C" not null,
    wndw_strt_ts timestamptz not null,
    slot_ct      sluice.places not null,
    creat_ts     timestamptz not null default clock_timestamp(),
    constraint rl_wndw_ct_pk primary key (pool_nm, wndw_strt_ts)
) with (fillfactor = 40);

create sequence sluice.slot_number cache 256;

-- The slot that each event has now.
create table @tables@.rl_event_slot_dtl (
    wndw_slot_id      text collate "C" not null -- Unique because the sequence is; no query asks for it.
                      default lpad(to_hex(nextval('sluice.slot_number')), 16, '0'),
    event_id          sluice.event_id not null,
    req_ts            timestamptz not null,
    wndw_strt_ts      timestamptz not null,
    computed_sched_ts timestamptz not null,
    rl_wndw_config_id text collate "C" not null,
    creat_ts          timestamptz not null default clock_timestamp(),
    pool_nm           text collate "C" not null,
    weight_ct         sluice.weight not null default 1,
    max_delay_ms      bigint,
    slot_state_cd     sluice.slot_state not null default 1,
    revision_no       integer not null default 0,
    since_ts          timestamptz not null default clock_timestamp(),
    constraint rl_event_slot_dtl_iux primary key (event_id)
);
create index rl_event_slot_dtl_i01x on @tables@.rl_event_slot_dtl (wndw_strt_ts);
-- Rows come in the order of their creation, so that one entry for each run of pages finds them.
create index rl_event_slot_dtl_i02x on @tables@.rl_event_slot_dtl using brin (creat_ts)
    with (pages_per_range = 32, autosummarize = on);

-- What each moved or cancelled event was before.
create table sluice.slot_past (
    event_id          text collate "C" not null,
    revision_no       integer not null,
    req_ts            timestamptz not null,
    wndw_strt_ts      timestamptz not null,
    computed_sched_ts timestamptz not null,
    rl_wndw_config_id text collate "C" not null,
    weight_ct         integer not null,
    max_delay_ms      bigint,
    slot_state_cd     smallint not null,
    since_ts          timestamptz not null,
    primary key (event_id, revision_no)
);

-- The chunks of windows that have their counters: [req_ts, wndw_end_ts). No counter of a chunk is below its
-- `slot_ct_min`, and none that begins before `full_end_ts` is below `full_ct`; they may be above. That is how
-- a search passes over a hundred full windows, for whatever cap and weight, at the price of one row, and over
-- the full ones in front of those with room at no price.
create table @tables@.rl_wndw_frontier_trk (
    pool_nm     text collate "C" not null,
    req_ts      timestamptz not null,
    wndw_end_ts timestamptz not null,
    creat_ts    timestamptz not null default clock_timestamp(),
    slot_ct_min bigint not null default 0,
    full_end_ts timestamptz,
    full_ct     bigint,
    run_strt_ts timestamptz, -- From there to this chunk, all have their counters; maybe from earlier on.
    constraint rl_wndw_frontier_trk_pk primary key (pool_nm, req_ts, wndw_end_ts)
) with (fillfactor = 70);
-- A search passes over chunks that are full for it without leaving the index. All of its columns have one
-- length, and are compared as numbers: behind the pool's name each entry would cost more.
create index rl_wndw_frontier_trk_i01x
    on @tables@.rl_wndw_frontier_trk (hashtext(pool_nm), req_ts, slot_ct_min);
