-- The PostgreSQL store behind 10,000 full windows at the requested time, in three pools: full of events of
-- weight 1; full for the lower of two caps; without room for weight 3. Counted up like the peer's.
create procedure pg_temp.fill(pool text, config text, each integer, weight integer) language plpgsql as $$
declare
    opens timestamptz := '2035-01-01 00:00:00+00';
begin
    insert into rl_event_slot_dtl (event_id, req_ts, wndw_strt_ts, computed_sched_ts, rl_wndw_config_id,
                                   pool_nm, weight_ct)
    select gen_random_uuid()::text, opens, windows.strt,
           windows.strt + floor(random() * 4000) * interval '1 millisecond', c.rl_wndw_config_id, pool, weight
    from rl_event_wndw_config c,
         (select opens + number / each * interval '4 seconds' as strt
          from generate_series(0, 10000 * each - 1) as number) as windows
    where c.wndw_config_nm = config and c.act_in = 1;
    for number in 0 .. 9999 loop
        if number % 100 = 0 then
            insert into rl_wndw_ct (pool_nm, wndw_strt_ts, slot_ct)
            select pool, opens + later * interval '4 seconds', 0 from generate_series(0, 99) as later;
            insert into rl_wndw_frontier_trk (pool_nm, req_ts, wndw_end_ts)
            values (pool, opens, opens + interval '400 seconds');
        end if;
        for event in 1 .. each loop
            update rl_wndw_ct w set slot_ct = w.slot_ct + weight
            where w.pool_nm = pool and w.wndw_strt_ts = opens;
            commit;
        end loop;
        opens := opens + interval '4 seconds';
    end loop;
end
$$;
set synchronous_commit = off;
call pg_temp.fill('default', 'default', 100, 1);
call pg_temp.fill('shared', 'narrow', 1, 50);
call pg_temp.fill('weighted', 'weighted', 1, 98);

vacuum (analyze) rl_wndw_ct, rl_event_slot_dtl, rl_wndw_frontier_trk;
