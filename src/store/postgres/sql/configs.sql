-- Versioned configs.

-- Makes a new version of a config. Nothing assigns from any version of the pools concerned meanwhile. Gives up
-- (55P03) when those who do so have not ended within 50 ms, so that nobody waits behind it for longer; the
-- caller pauses and tries again.
-- a_now is only written down. SLPWS: other configs of the pool have another window size. SLWSU: the pool has slots in the future, in
-- windows of another size. Both say that size, in milliseconds.
create or replace function sluice.put_config(a_config text, a_cap integer, a_size bigint, a_size_text text, a_pool text,
    a_lookahead bigint, a_chunk_ct integer, a_now timestamptz, a_spread integer default 0,
    a_past integer default 0, a_rate integer default null, a_rate_holds integer default 0,
    a_expires_after bigint default null, a_retries bigint[] default null, out replaced_cap integer,
    out version @tables@.rl_event_wndw_config)
language plpgsql set lock_timeout = '50ms' as $$
declare
    patient_until timestamptz;
    current @tables@.rl_event_wndw_config;
    pool sluice.pool;
    name text;
begin
    perform pg_advisory_xact_lock(7303, 0);
    select c.* into current from @tables@.rl_event_wndw_config c
    where c.wndw_config_nm = a_config and c.act_in = 1;
    replaced_cap := current.wndw_max_event_ct;
    patient_until := clock_timestamp() + interval '50 ms';
    for name in select distinct p from unnest(array[a_pool, current.pool_nm]) as p
                where p is not null order by p loop
        perform sluice.shut(7301, name, patient_until);
    end loop;
    perform sluice.shut(7304, a_config, patient_until);
    perform sluice.shut(7305, '', patient_until); -- No work is claimed under terms that are about to change.
    select p.* into pool from sluice.pool p where p.pool_nm = a_pool;
    if not found then
        pool.chunk_ct := a_chunk_ct;
        insert into sluice.pool (pool_nm, wndw_size_ms, chunk_ct) values (a_pool, a_size, a_chunk_ct);
    elsif pool.wndw_size_ms <> a_size then
        perform sluice.recut_pool(pool, a_config, a_size);
    end if;
    update @tables@.rl_event_wndw_config c set act_in = 0
    where c.wndw_config_nm = a_config and c.act_in = 1;
    insert into @tables@.rl_event_wndw_config as c (rl_wndw_config_id, wndw_config_nm, wndw_max_event_ct,
        wndw_size_iso_dur_tx, config_eff_strt_dt, act_in, config_no, pool_nm, wndw_size_ms, chunk_ct,
        max_lookahead_ct, spread_cd, past_cd, max_per_second, rate_holds_cd, expires_after_ms, retry_ms)
    select 'cfg-' || number, a_config, a_cap, a_size_text, a_now, 1, number, a_pool, a_size, pool.chunk_ct,
           a_lookahead, a_spread, a_past, a_rate, a_rate_holds, a_expires_after, a_retries
    from nextval('sluice.config_number') as number
    returning c.* into version;
    perform pg_notify('sluice', 'config ' || version.config_no || ' ' || a_config);
end
$$;

-- Counts the slots of a pool again, in windows of another size. What lies in the future is said by the server's
-- clock: a node's may be wrong.
create or replace function sluice.recut_pool(a_pool sluice.pool, a_config text, a_size bigint)
returns void language plpgsql as $$
declare
    now_ms constant bigint := sluice.limit_clock() / 1000;
begin
    perform 1 from @tables@.rl_event_wndw_config c
    where c.pool_nm = a_pool.pool_nm and c.wndw_config_nm <> a_config and c.act_in = 1;
    if found then
        raise exception using errcode = 'SLPWS', message = a_pool.wndw_size_ms;
    end if;
    perform 1 from @tables@.rl_wndw_ct w
    where w.pool_nm = a_pool.pool_nm and w.slot_ct > 0
      and w.wndw_strt_ts >= sluice.from_ms(now_ms - now_ms % a_pool.wndw_size_ms);
    if found then
        raise exception using errcode = 'SLWSU', message = a_pool.wndw_size_ms;
    end if;
    delete from @tables@.rl_wndw_frontier_trk f where f.pool_nm = a_pool.pool_nm;
    delete from @tables@.rl_wndw_ct w where w.pool_nm = a_pool.pool_nm;
    update sluice.pool p set wndw_size_ms = a_size where p.pool_nm = a_pool.pool_nm;
    insert into @tables@.rl_wndw_ct (pool_nm, wndw_strt_ts, slot_ct)
    select r.pool_nm, r.window_start, r.recounted from sluice.recounted_windows r
    where r.pool_nm = a_pool.pool_nm;
    perform pg_notify('sluice', 'recut ' || a_pool.pool_nm);
end
$$;

-- What the slots say that each window holds.
create or replace view sluice.recounted_windows as
select counted.pool_nm, counted.window_start, sum(counted.weight_ct) as recounted
from (select d.pool_nm, d.weight_ct,
             sluice.from_ms(sluice.to_ms(d.computed_sched_ts)
                            - sluice.to_ms(d.computed_sched_ts) % p.wndw_size_ms) as window_start
      from @tables@.rl_event_slot_dtl d join sluice.pool p on p.pool_nm = d.pool_nm
      where d.slot_state_cd = 1) as counted
group by counted.pool_nm, counted.window_start;

-- Counters beside the slots: no row may differ.
create or replace view sluice.recount as
select coalesce(w.pool_nm, r.pool_nm) as pool, coalesce(w.wndw_strt_ts, r.window_start) as window_start,
       coalesce(w.slot_ct, 0) as counted, coalesce(r.recounted, 0) as recounted
from @tables@.rl_wndw_ct w
full join sluice.recounted_windows r on r.pool_nm = w.pool_nm and r.window_start = w.wndw_strt_ts;
