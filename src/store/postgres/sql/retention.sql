-- Removing old slots, for whoever wants them removed.

-- Removes the oldest windows of a pool that ended longer than a_retention ago by the server's clock, at most
-- a_limit of them, each together with all of its slots: a counter never goes without them, nor they without it. Answers how many windows went.
-- Nobody assigns in the pool meanwhile, so that no slot comes into a window that is about to go. Gives up (55P03)
-- when those who do so have not ended within 50 ms: old windows can wait.
create or replace function sluice.forget_windows(a_pool text, a_retention interval, a_limit integer) returns bigint
language plpgsql set lock_timeout = '50ms' as $$
declare
    cutoff constant timestamptz := sluice.from_ms(sluice.limit_clock() / 1000) - a_retention;
    patient_until constant timestamptz := clock_timestamp() + interval '50 ms';
    config_name text;
    removed_until timestamptz; -- The end of the last window that goes.
    removed bigint;
begin
    perform sluice.shut(7301, a_pool, patient_until);
    for config_name in select c.wndw_config_nm from @tables@.rl_event_wndw_config c
                       where c.pool_nm = a_pool and c.act_in = 1 order by 1 loop
        perform sluice.shut(7304, config_name, patient_until);
    end loop;
    select count(*), max(oldest.window_end) into removed, removed_until
    from (select w.wndw_strt_ts + p.wndw_size_ms * interval '1 millisecond' as window_end
          from @tables@.rl_wndw_ct w join sluice.pool p on p.pool_nm = w.pool_nm
          where w.pool_nm = a_pool
            and w.wndw_strt_ts <= cutoff - p.wndw_size_ms * interval '1 millisecond'
          order by w.wndw_strt_ts limit a_limit) as oldest;
    if removed > 0 then
        -- A slot is counted where it is scheduled, and never before the window that it was assigned in.
        with gone as (
            delete from @tables@.rl_event_slot_dtl d
            where d.pool_nm = a_pool and d.wndw_strt_ts < removed_until
              and d.computed_sched_ts < removed_until
            returning d.event_id
        )
        delete from sluice.slot_past h using gone where h.event_id = gone.event_id;
        delete from @tables@.rl_wndw_ct w where w.pool_nm = a_pool and w.wndw_strt_ts < removed_until;
        delete from @tables@.rl_wndw_frontier_trk f where f.pool_nm = a_pool and f.req_ts < removed_until;
        -- The rest may be told of as if these were still there.
        update @tables@.rl_wndw_frontier_trk f set run_strt_ts = null
        where f.pool_nm = a_pool and f.run_strt_ts < removed_until;
        perform pg_notify('sluice', 'recut ' || a_pool); -- What nodes believe of its counters is old.
    end if;
    return removed;
end
$$;
