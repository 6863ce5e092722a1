-- What an application may call inside its own transaction, and what operators may read.

-- What is wrong with the arguments, which every door checks; null when nothing is.
create or replace function sluice.wrong_argument(a_event text, a_requested bigint, a_weight integer, a_delay bigint)
returns text language sql volatile
return case
    when a_event is null or octet_length(a_event) not between 1 and 255 or a_event ~ '[[:cntrl:]]'
        then 'event_id must have 1 to 255 bytes and no control characters.'
    when a_requested is null or a_requested < 0
        or a_requested > sluice.to_ms(clock_timestamp()) + 3653::bigint * 86400000
        then 'requested_time must lie between 1970 and ten years from now.'
    when a_weight is null or a_weight < 1 then 'weight must be at least 1.'
    when a_delay not between 1 and 31::bigint * 86400000
        then 'max_delay must be positive and at most 31 days.'
end;

-- Every statement below is a look-up in an index, and is planned once for a session: to plan it again takes
-- longer than to run it, and a plan that suits a small table would stay when the table has grown.
create or replace function sluice.assign_slot(inout event_id text, config_name text, requested_time timestamptz,
    weight integer default 1, max_delay interval default null, target jsonb default null,
    payload jsonb default null, out scheduled_time timestamptz, out delay_ms bigint,
    out window_start timestamptz)
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '2s'
set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
declare
    requested constant bigint := case when isfinite(requested_time) then sluice.to_ms(requested_time) end;
    delay constant bigint := floor(extract(epoch from max_delay) * 1000);
    wrong constant text := sluice.wrong_argument(event_id, requested, weight, delay);
    work sluice.brought_work;
    slot @tables@.rl_event_slot_dtl;
begin
    if wrong is not null then
        raise exception using errcode = 'SL400', message = wrong;
    end if;
    if target is not null or payload is not null then
        work := sluice.bring_work(event_id, target, payload);
    end if;
    slot := (sluice.take_slot(event_id, config_name, requested, weight, delay, clock_timestamp(), work)).slot;
    scheduled_time := slot.computed_sched_ts;
    delay_ms := sluice.to_ms(slot.computed_sched_ts) - sluice.to_ms(slot.req_ts);
    window_start := slot.wndw_strt_ts;
exception when lock_not_available or deadlock_detected then
    raise exception using errcode = 'SL409', message = 'Another transaction holds this event.';
end
$$;

-- Many events for one time, all or none, in the order of the array. Equal ids are one event.
create or replace function sluice.assign_slots(event_ids text[], config_name text, requested_time timestamptz)
returns table (event_id text, scheduled_time timestamptz, delay_ms bigint, window_start timestamptz)
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '2s'
set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
declare
    requested constant bigint := case when isfinite(requested_time) then sluice.to_ms(requested_time) end;
    event text;
    wrong text;
    place sluice.place;
    planned sluice.planned_slot[] := '{}';
    given sluice.planned_slot;
begin
    if event_ids is null then
        raise exception using errcode = 'SL400', message = 'event_ids must not be null.';
    end if;
    foreach event in array event_ids loop
        wrong := sluice.wrong_argument(event, requested, 1, null);
        if wrong is not null then
            raise exception using errcode = 'SL400', message = wrong;
        end if;
    end loop;
    -- Windows first, each counted at once so that the next event sees it; events after them, in byte order.
    for event in
        select asked.id from unnest(event_ids) with ordinality as asked (id, number)
        where not exists (select from @tables@.rl_event_slot_dtl d where d.event_id = asked.id)
        group by asked.id order by min(asked.number)
    loop
        place := sluice.take_place(config_name, requested, 1, null);
        planned := planned || row(event, place)::sluice.planned_slot;
    end loop;
    for given in select p.* from unnest(planned) as p order by (p).event_id collate "C" loop
        place := given.place;
        insert into @tables@.rl_event_slot_dtl as d (event_id, req_ts, wndw_strt_ts, computed_sched_ts,
            rl_wndw_config_id, pool_nm)
        values (given.event_id, sluice.from_ms(requested), sluice.from_ms(place.window_ms),
                sluice.from_ms(place.scheduled_ms), place.config_id, place.pool_nm)
        on conflict on constraint rl_event_slot_dtl_iux do nothing;
        if not found then -- Another transaction was faster.
            perform sluice.untake_place(place, 1);
        end if;
    end loop;
    perform sluice.refuse_cancelled(event_ids);
    perform sluice.vouch();
    return query
        select asked.id, d.computed_sched_ts,
               sluice.to_ms(d.computed_sched_ts) - sluice.to_ms(d.req_ts), d.wndw_strt_ts
        from unnest(event_ids) with ordinality as asked (id, number)
        join @tables@.rl_event_slot_dtl d on d.event_id = asked.id
        order by asked.number;
exception when lock_not_available or deadlock_detected then
    raise exception using errcode = 'SL409', message = 'Another transaction holds one of the events.';
end
$$;

-- The same tables under the names that queries of the workflow service use.
create or replace view sluice.rate_limit_config as
select c.rl_wndw_config_id as config_id, c.wndw_config_nm as config_name,
       c.wndw_max_event_ct as max_per_window, c.wndw_size_iso_dur_tx as window_size,
       c.config_eff_strt_dt as effective_from, c.act_in as is_active, c.creat_ts as created_at, c.pool_nm
from @tables@.rl_event_wndw_config c;

create or replace view sluice.rate_limit_window_counter as
select w.wndw_strt_ts as window_start, w.slot_ct as slot_count, w.creat_ts as created_at, w.pool_nm
from @tables@.rl_wndw_ct w;

create or replace view sluice.rate_limit_event_slot as
select d.wndw_slot_id as slot_id, d.event_id, d.req_ts as requested_time, d.wndw_strt_ts as window_start,
       d.computed_sched_ts as scheduled_time, d.rl_wndw_config_id as config_id, d.creat_ts as created_at,
       d.pool_nm, case d.slot_state_cd when 1 then 'assigned' else 'cancelled' end as state
from @tables@.rl_event_slot_dtl d;
