-- The PostgreSQL store behind 10,000 full windows at the requested time, in three pools: full of events of
-- weight 1; full for the lower of two caps; without room for weight 3.
create function pg_temp.fill(pool text, config text, each integer, weight integer) returns void
language sql as $$
    insert into rl_wndw_ct (pool_nm, wndw_strt_ts, slot_ct)
    select pool, timestamptz '2035-01-01 00:00:00+00' + number * interval '4 seconds', each * weight
    from generate_series(0, 9999) as number;
    insert into rl_wndw_frontier_trk (pool_nm, req_ts, wndw_end_ts)
    select pool, opens, opens + interval '400 seconds'
    from (select timestamptz '2035-01-01 00:00:00+00' + chunk * interval '400 seconds' as opens
          from generate_series(0, 99) as chunk) as chunks;
    insert into rl_event_slot_dtl (event_id, req_ts, wndw_strt_ts, computed_sched_ts, rl_wndw_config_id,
                                   pool_nm, weight_ct)
    select gen_random_uuid()::text, timestamptz '2035-01-01 00:00:00+00', opens,
           opens + floor(random() * 4000) * interval '1 millisecond',
           (select rl_wndw_config_id from rl_event_wndw_config where wndw_config_nm = config and act_in = 1),
           pool, weight
    from (select timestamptz '2035-01-01 00:00:00+00' + number / each * interval '4 seconds' as opens
          from generate_series(0, 10000 * each - 1) as number) as slots;
$$;
select pg_temp.fill('default', 'default', 100, 1);
select pg_temp.fill('shared', 'narrow', 1, 50);
select pg_temp.fill('weighted', 'weighted', 1, 98);

vacuum (analyze) rl_wndw_ct, rl_event_slot_dtl, rl_wndw_frontier_trk;
