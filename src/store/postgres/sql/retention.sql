-- Removing old slots, for whoever wants them removed.

-- The start of the oldest window that ended before a_cutoff and is empty, or has a slot that can go; null: there is
-- none. A slot stays as long as something may happen to its work: what is asked of each is no join, because that
-- would read all works.
create or replace function sluice.oldest_forgettable(a_pool sluice.pool, a_cutoff timestamptz) returns timestamptz
language plpgsql stable as $$
declare
    size constant bigint := a_pool.wndw_size_ms;
    ended_until constant timestamptz := sluice.from_ms(sluice.to_ms(a_cutoff) - sluice.to_ms(a_cutoff) % size);
    slot_ms bigint;
    empty_strt timestamptz;
begin
    select sluice.to_ms(d.computed_sched_ts) into slot_ms
    from @tables@.rl_event_slot_dtl d
    where d.pool_nm = a_pool.pool_nm and d.wndw_strt_ts < ended_until and d.computed_sched_ts < ended_until
      and (not d.work_in or (select w.state_cd in (3, 8) from sluice.work w
                             where w.event_id = d.event_id) is not false)
    order by d.wndw_strt_ts limit 1;
    select w.wndw_strt_ts into empty_strt
    from @tables@.rl_wndw_ct w
    where w.pool_nm = a_pool.pool_nm and w.wndw_strt_ts < ended_until and w.slot_ct = 0
    order by w.wndw_strt_ts limit 1;
    return least(sluice.from_ms(slot_ms - slot_ms % size), empty_strt);
end
$$;

-- Removes the slots of a pool that lie between two windows, with their work and all that is known of them, and the
-- windows that nothing is left in; what the others hold is counted again. The caller has shut the pool.
create or replace function sluice.forget_slots(a_pool sluice.pool, a_from timestamptz, a_until timestamptz) returns void
language plpgsql as $$
declare
    -- No window is longer than 31 days, so that no slot there was assigned in an earlier one.
    assigned_from constant timestamptz := a_from - interval '31 days';
    kept timestamptz[];
begin
    with gone as (
        delete from @tables@.rl_event_slot_dtl d
        where d.pool_nm = a_pool.pool_nm and d.wndw_strt_ts > assigned_from and d.wndw_strt_ts < a_until
          and d.computed_sched_ts >= a_from and d.computed_sched_ts < a_until
          and (not d.work_in or (select w.state_cd in (3, 8) from sluice.work w
                                 where w.event_id = d.event_id) is not false)
        returning d.event_id, d.work_in
    ), without_past as (
        delete from sluice.slot_past h using gone where h.event_id = gone.event_id
    ), without_work as (
        delete from sluice.work w using gone where gone.work_in and w.event_id = gone.event_id
    ), without_order as (
        delete from sluice.work_order o using gone where gone.work_in and o.event_id = gone.event_id
    )
    delete from sluice.dispatch_audit a using gone where gone.work_in and a.event_id = gone.event_id;
    with held as (
        select sluice.from_ms(sluice.to_ms(d.computed_sched_ts)
                              - sluice.to_ms(d.computed_sched_ts) % a_pool.wndw_size_ms) as window_strt,
               sum(d.weight_ct) as places
        from @tables@.rl_event_slot_dtl d
        where d.pool_nm = a_pool.pool_nm and d.slot_state_cd = 1
          and d.wndw_strt_ts > assigned_from and d.wndw_strt_ts < a_until
          and d.computed_sched_ts >= a_from and d.computed_sched_ts < a_until
        group by 1
    ), counted as (
        update @tables@.rl_wndw_ct w set slot_ct = held.places, cells = null -- Their cells are not known any more.
        from held
        where w.pool_nm = a_pool.pool_nm and w.wndw_strt_ts = held.window_strt and w.slot_ct <> held.places
    )
    select array_agg(held.window_strt) into kept from held;
    delete from @tables@.rl_wndw_ct w
    where w.pool_nm = a_pool.pool_nm and w.wndw_strt_ts >= a_from and w.wndw_strt_ts < a_until
      and (w.wndw_strt_ts = any (kept)) is not true;
end
$$;

-- Goes through the oldest windows of a pool that ended longer than a_retention ago by the server's clock and have
-- something to forget, at most a_limit of them, and removes each together with its slots: a counter never goes without
-- them, nor they without it. Answers how many windows it went through; 0: all is done. Nobody assigns in the pool
-- meanwhile, so that no slot comes into a window that is about to go. Gives up (55P03) when those who do so have not
-- ended within 50 ms: old windows can wait.
create or replace function sluice.forget_windows(a_pool text, a_retention interval, a_limit integer) returns bigint
language plpgsql set lock_timeout = '50ms' as $$
declare
    cutoff constant timestamptz := sluice.from_ms(sluice.limit_clock() / 1000) - a_retention;
    patient_until constant timestamptz := clock_timestamp() + interval '50 ms';
    pool sluice.pool;
    config_name text;
    forgets_from timestamptz;
    forgets_until timestamptz; -- The end of the last window that is gone through.
    window_ct bigint;
begin
    select p.* into pool from sluice.pool p where p.pool_nm = a_pool;
    if sluice.oldest_forgettable(pool, cutoff) is null then
        return 0; -- Nobody is kept out for nothing.
    end if;
    perform sluice.shut(7301, a_pool, patient_until);
    for config_name in select c.wndw_config_nm from @tables@.rl_event_wndw_config c
                       where c.pool_nm = a_pool and c.act_in = 1 order by 1 loop
        perform sluice.shut(7304, config_name, patient_until);
    end loop;
    select p.* into pool from sluice.pool p where p.pool_nm = a_pool; -- It may have been cut anew.
    forgets_from := sluice.oldest_forgettable(pool, cutoff);
    if forgets_from is null then
        return 0;
    end if;
    -- The first may have no row: that of a slot which was cancelled before its pool was cut anew.
    select greatest(count(*), 1),
           coalesce(max(oldest.wndw_strt_ts), forgets_from) + pool.wndw_size_ms * interval '1 millisecond'
    into window_ct, forgets_until
    from (select w.wndw_strt_ts from @tables@.rl_wndw_ct w
          where w.pool_nm = a_pool and w.wndw_strt_ts >= forgets_from
            and w.wndw_strt_ts <= cutoff - pool.wndw_size_ms * interval '1 millisecond'
          order by w.wndw_strt_ts limit a_limit) as oldest;
    perform sluice.forget_slots(pool, forgets_from, forgets_until);
    delete from @tables@.rl_wndw_frontier_trk f where f.pool_nm = a_pool and f.req_ts < forgets_until;
    -- The rest may be told of as if these were still there.
    update @tables@.rl_wndw_frontier_trk f set run_strt_ts = null
    where f.pool_nm = a_pool and f.run_strt_ts < forgets_until;
    perform pg_notify('sluice', 'recut ' || a_pool); -- What nodes believe of its counters is old.
    return window_ct;
end
$$;
