-- The peer "seed": the slot service that Sluice set out from, written for PostgreSQL. The four tables have
-- the columns and indexes of its documented schema; timestamps carry a zone, identifiers are random UUIDs.

create table rl_event_wndw_config (
    rl_wndw_config_id    varchar(50) primary key,
    wndw_config_nm       varchar(128) not null,
    wndw_max_event_ct    integer not null,
    wndw_size_iso_dur_tx varchar(25) not null,
    config_eff_strt_dt   timestamptz not null,
    act_in               smallint not null,
    creat_ts             timestamptz not null default clock_timestamp()
);
create index rl_event_wndw_config_i01x on rl_event_wndw_config (wndw_config_nm, act_in);

create table rl_wndw_ct (
    wndw_strt_ts timestamptz primary key,
    slot_ct      integer not null,
    creat_ts     timestamptz not null default clock_timestamp()
);
create index rl_wndw_ct_i01x on rl_wndw_ct (wndw_strt_ts, slot_ct);

create table rl_event_slot_dtl (
    wndw_slot_id      varchar(50) primary key,
    event_id          varchar(50) not null,
    req_ts            timestamptz not null,
    wndw_strt_ts      timestamptz not null,
    computed_sched_ts timestamptz not null,
    rl_wndw_config_id varchar(50) not null,
    creat_ts          timestamptz not null default clock_timestamp()
);
create unique index rl_event_slot_dtl_iux on rl_event_slot_dtl (event_id);
create index rl_event_slot_dtl_i01x on rl_event_slot_dtl (wndw_strt_ts);
create index rl_event_slot_dtl_i02x on rl_event_slot_dtl (creat_ts);

create table rl_wndw_frontier_trk (
    req_ts      timestamptz not null,
    wndw_end_ts timestamptz not null,
    creat_ts    timestamptz not null default clock_timestamp(),
    primary key (req_ts, wndw_end_ts)
);

insert into rl_event_wndw_config (rl_wndw_config_id, wndw_config_nm, wndw_max_event_ct, wndw_size_iso_dur_tx,
                                  config_eff_strt_dt, act_in)
values ('seed-1', 'default', 100, 'PT4S', clock_timestamp(), 1);
