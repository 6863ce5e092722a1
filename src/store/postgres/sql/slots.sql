-- Assigning, cancelling and moving: each one call, in the caller's transaction.

-- A version of a config as it is committed now. The statement that calls take_slot() or move_slot() may have
-- begun before a config change that these had to wait for; it does not see the new version itself.
create or replace function sluice.config_version(a_id text) returns @tables@.rl_event_wndw_config
language plpgsql volatile as $$
declare
    version @tables@.rl_event_wndw_config;
begin
    select c.* into version from @tables@.rl_event_wndw_config c where c.rl_wndw_config_id = a_id;
    return version;
end
$$;

-- Called before the commit of a transaction that answers from rows of others. Where commits wait for a standby,
-- such rows may have become visible without it: their wait ended with a crash of the primary, or was
-- cancelled. A record of this transaction's own makes its commit wait, and so for all that was written before.
create or replace function sluice.vouch() returns void
language plpgsql volatile as $$
begin
    if current_setting('synchronous_standby_names') <> '' then
        perform pg_logical_emit_message(true, 'sluice', '');
    end if;
end
$$;

-- A small write, which fails when slots cannot be stored: the role may not, the disk of the data is full, the
-- commit waits for a standby that is away. Tells what the server's clock says, and whether commits are durable
-- when they are answered.
create or replace function sluice.prove_writing(out clock_ms bigint, out durable boolean)
language plpgsql volatile set work_mem = '64kB' as $$
begin
    if not has_table_privilege('@tables@.rl_event_slot_dtl', 'insert')
        or not has_table_privilege('@tables@.rl_wndw_ct', 'update') then
        raise exception using errcode = 'insufficient_privilege',
            message = format('Role %I may not write to the tables of slots.', current_user);
    end if;
    -- More than its memory holds: it goes to a file beside the tables.
    perform count(*) from generate_series(1, 4000);
    perform pg_logical_emit_message(true, 'sluice', '');
    clock_ms := floor(extract(epoch from clock_timestamp()) * 1000);
    durable := case current_setting('synchronous_commit')
        when 'off' then false
        when 'local' then current_setting('synchronous_standby_names') = ''
        else true end;
end
$$;

-- The slot that the event has, or a new one with the work that it brings.
create or replace function sluice.take_slot(a_event text, a_config text, a_requested bigint, a_weight integer,
    a_max_delay bigint, a_now timestamptz, a_work sluice.brought_work default null, out slot @tables@.rl_event_slot_dtl, out repeated boolean)
language plpgsql as $$
declare
    place sluice.place;
begin
    -- A known event is answered before anything else is looked at.
    select d.* into slot from @tables@.rl_event_slot_dtl d where d.event_id = a_event;
    if not found then
        place := sluice.take_place(a_config, a_requested, a_weight, a_max_delay);
        insert into @tables@.rl_event_slot_dtl as d (event_id, req_ts, wndw_strt_ts, computed_sched_ts,
            rl_wndw_config_id, pool_nm, weight_ct, max_delay_ms, since_ts, work_in)
        values (a_event, sluice.from_ms(a_requested), sluice.from_ms(place.window_ms),
                sluice.from_ms(place.scheduled_ms), place.config_id, place.pool_nm, a_weight, a_max_delay,
                a_now, a_work.target_cd is not null)
        on conflict on constraint rl_event_slot_dtl_iux do nothing
        returning d.* into slot;
        if found then
            repeated := false;
            if slot.work_in then
                perform sluice.add_works(array[a_work]);
            end if;
            return;
        end if;
        -- Another transaction was faster: its slot is the answer.
        perform sluice.untake_place(place, a_weight);
        select d.* into slot from @tables@.rl_event_slot_dtl d where d.event_id = a_event;
    end if;
    repeated := true;
    perform sluice.vouch();
    if slot.slot_state_cd = 2 or sluice.has_one_snapshot() then
        perform sluice.refuse_cancelled(array[a_event]);
    end if;
end
$$;

-- SL410 when one of the events was cancelled; 40001 when one was changed since the transaction's one snapshot.
create or replace function sluice.refuse_cancelled(a_events text[]) returns void
language plpgsql as $$
declare
    cancelled text;
begin
    if sluice.has_one_snapshot() then
        perform 1 from @tables@.rl_event_slot_dtl d
        where d.event_id = any (a_events) order by d.event_id for share;
    end if;
    select d.event_id into cancelled from @tables@.rl_event_slot_dtl d
    where d.event_id = any (a_events) and d.slot_state_cd = 2 limit 1;
    if found then
        raise exception using errcode = 'SL410', message = format('Event %L was cancelled.', cancelled);
    end if;
end
$$;

-- Stores slots that were planned in windows which this transaction holds, and counts those that are new. a_cells
-- tells the cells of each, see take_cells_of_all; null: it has none, and its window none from then on. a_work_in
-- tells who brings work, which add_works() then stores.
-- Answers with what is stored for all of them if another transaction was faster with some; else with nothing.
create or replace function sluice.store_slots(a_now timestamptz, a_events text[], a_pools text[], a_configs text[],
    a_requested bigint[], a_windows bigint[], a_scheduled bigint[], a_weights integer[], a_delays bigint[],
    a_cells text[] default null, a_work_in boolean[] default null)
returns setof @tables@.rl_event_slot_dtl language plpgsql as $$
declare
    stored_ct bigint;
begin
    with stored as (
        insert into @tables@.rl_event_slot_dtl as d (event_id, pool_nm, rl_wndw_config_id, req_ts,
            wndw_strt_ts, computed_sched_ts, weight_ct, max_delay_ms, since_ts, work_in)
        select p.event_id, p.pool_nm, p.config_id, sluice.from_ms(p.requested), sluice.from_ms(p.window_ms),
               sluice.from_ms(p.scheduled), p.weight, p.max_delay, a_now, coalesce(p.work_in, false)
        from unnest(a_events, a_pools, a_configs, a_requested, a_windows, a_scheduled, a_weights, a_delays, a_work_in)
            as p (event_id, pool_nm, config_id, requested, window_ms, scheduled, weight, max_delay, work_in)
        on conflict on constraint rl_event_slot_dtl_iux do nothing
        returning d.event_id, d.pool_nm, d.wndw_strt_ts, d.weight_ct
    ), counted as (
        update @tables@.rl_wndw_ct w
        set slot_ct = w.slot_ct + s.places,
            cells = case when s.in_cells then sluice.take_cells_of_all(w.cells, w.slot_ct, s.cells) end
        from (select stored.pool_nm, stored.wndw_strt_ts, sum(stored.weight_ct) as places,
                     bool_and(planned.cells is not null) as in_cells,
                     array_agg(planned.cells) filter (where planned.cells is not null) as cells
              from stored
              left join (select p.* from unnest(a_events, a_cells) as p (event_id, cells)
                         where a_cells is not null) as planned on planned.event_id = stored.event_id
              group by 1, 2) as s
        where w.pool_nm = s.pool_nm and w.wndw_strt_ts = s.wndw_strt_ts
    )
    select count(*) into stored_ct from stored;
    if stored_ct < cardinality(a_events) then
        return query select d.* from @tables@.rl_event_slot_dtl d where d.event_id = any (a_events);
    end if;
end
$$;

-- The slot of an event that is to be changed, with its window, its chunk and the event itself locked. Waits
-- for whoever holds them. SL405: there is none. SL409: it was changed meanwhile; trying again helps.
create or replace function sluice.lock_slot(a_event text) returns @tables@.rl_event_slot_dtl
language plpgsql as $$
declare
    slot @tables@.rl_event_slot_dtl;
    pool sluice.pool;
    scheduled bigint;
    chunk bigint;
begin
    select d.* into slot from @tables@.rl_event_slot_dtl d where d.event_id = a_event;
    if not found then
        raise exception using errcode = 'SL405', message = format('There is no slot for event %L.', a_event);
    end if;
    perform pg_advisory_xact_lock_shared(7301, hashtext(slot.pool_nm));
    select p.* into pool from sluice.pool p where p.pool_nm = slot.pool_nm;
    scheduled := sluice.to_ms(slot.computed_sched_ts);
    perform 1 from @tables@.rl_wndw_ct w
    where w.pool_nm = slot.pool_nm
      and w.wndw_strt_ts = sluice.from_ms(scheduled - scheduled % pool.wndw_size_ms)
    for update;
    chunk := scheduled - scheduled % (pool.wndw_size_ms * pool.chunk_ct);
    -- Swept, it is made again: one that another transaction makes and does not show yet must learn of this.
    if not sluice.provision(slot.pool_nm, chunk) then
        raise exception using errcode = 'SL409', message = 'Another transaction makes counters for its window.';
    end if;
    perform 1 from @tables@.rl_wndw_frontier_trk f
    where f.pool_nm = slot.pool_nm and f.req_ts = sluice.from_ms(chunk)
    for update;
    perform 1 from @tables@.rl_event_slot_dtl d
    where d.event_id = a_event and d.revision_no = slot.revision_no
    for update;
    if not found then
        raise exception using errcode = 'SL409', message = 'The event was changed meanwhile.';
    end if;
    return slot;
end
$$;

-- Gives the places of a locked slot back, in the window that it is counted in as its pool is cut now, and
-- tells every node.
create or replace function sluice.give_back(a_slot @tables@.rl_event_slot_dtl) returns sluice.room
language plpgsql as $$
declare
    scheduled constant bigint := sluice.to_ms(a_slot.computed_sched_ts);
    pool sluice.pool;
    window_ms bigint;
    left_ct bigint;
begin
    select p.* into pool from sluice.pool p where p.pool_nm = a_slot.pool_nm;
    window_ms := scheduled - scheduled % pool.wndw_size_ms;
    update @tables@.rl_wndw_ct w
    set slot_ct = w.slot_ct - a_slot.weight_ct,
        cells = sluice.release_cells(w.cells, scheduled - window_ms, pool.wndw_size_ms)
    where w.pool_nm = a_slot.pool_nm and w.wndw_strt_ts = sluice.from_ms(window_ms)
    returning w.slot_ct into left_ct;
    perform sluice.lower_bounds(a_slot.pool_nm,
        sluice.from_ms(scheduled - scheduled % (pool.wndw_size_ms * pool.chunk_ct)),
        sluice.from_ms(window_ms), left_ct);
    perform pg_notify('sluice', 'room ' || window_ms || ' ' || left_ct || ' ' || a_slot.pool_nm);
    return row(a_slot.pool_nm, window_ms, left_ct)::sluice.room;
end
$$;

-- Writes what a locked slot becomes, beside what it was.
create or replace function sluice.replace_slot(a_before @tables@.rl_event_slot_dtl,
                                    inout a_after @tables@.rl_event_slot_dtl, a_now timestamptz)
language plpgsql as $$
begin
    a_after.revision_no := a_before.revision_no + 1;
    a_after.since_ts := a_now;
    insert into sluice.slot_past (event_id, revision_no, req_ts, wndw_strt_ts, computed_sched_ts,
        rl_wndw_config_id, weight_ct, max_delay_ms, slot_state_cd, since_ts)
    values (a_before.event_id, a_before.revision_no, a_before.req_ts, a_before.wndw_strt_ts,
        a_before.computed_sched_ts, a_before.rl_wndw_config_id, a_before.weight_ct, a_before.max_delay_ms,
        a_before.slot_state_cd, a_before.since_ts);
    update @tables@.rl_event_slot_dtl d
    set req_ts = a_after.req_ts, wndw_strt_ts = a_after.wndw_strt_ts,
        computed_sched_ts = a_after.computed_sched_ts, rl_wndw_config_id = a_after.rl_wndw_config_id,
        pool_nm = a_after.pool_nm, slot_state_cd = a_after.slot_state_cd,
        revision_no = a_after.revision_no, since_ts = a_after.since_ts
    where d.event_id = a_before.event_id;
end
$$;

-- Cancelling twice changes nothing. SLSNT: its work is on its way, or has arrived.
create or replace function sluice.cancel_slot(a_event text, a_now timestamptz default clock_timestamp(),
    a_by text default '', out slot @tables@.rl_event_slot_dtl, out repeated boolean,
    out freed sluice.room)
language plpgsql as $$
declare
    before constant @tables@.rl_event_slot_dtl := sluice.lock_slot(a_event);
begin
    slot := before;
    repeated := before.slot_state_cd = 2;
    if not repeated then
        if before.work_in then
            perform sluice.withdraw_work(a_event, a_by);
        end if;
        freed := sluice.give_back(before);
        slot.slot_state_cd := 2;
        slot := sluice.replace_slot(before, slot, a_now);
    else
        perform sluice.vouch();
    end if;
end
$$;

-- Gives the place back and takes one for another time, under the active version of the event's config; it
-- may well be the place that was given back. Moving again to the same time changes nothing. SLSNT: its work was
-- tried already.
create or replace function sluice.move_slot(a_event text, a_requested bigint,
    a_now timestamptz default clock_timestamp(), a_by text default '', out slot @tables@.rl_event_slot_dtl, out repeated boolean,
    out freed sluice.room)
language plpgsql as $$
declare
    before constant @tables@.rl_event_slot_dtl := sluice.lock_slot(a_event);
    config_name text;
    place sluice.place;
    work sluice.work;
begin
    if before.slot_state_cd = 2 then
        raise exception using errcode = 'SL410', message = format('Event %L was cancelled.', a_event);
    end if;
    slot := before;
    repeated := before.req_ts = sluice.from_ms(a_requested);
    if repeated then
        perform sluice.vouch();
        return;
    end if;
    if before.work_in then
        work := sluice.lock_work(a_event, true);
    end if;
    freed := sluice.give_back(before);
    select c.wndw_config_nm into config_name from @tables@.rl_event_wndw_config c
    where c.rl_wndw_config_id = before.rl_wndw_config_id;
    place := sluice.take_place(config_name, a_requested, before.weight_ct, before.max_delay_ms);
    slot.req_ts := sluice.from_ms(a_requested);
    slot.wndw_strt_ts := sluice.from_ms(place.window_ms);
    slot.computed_sched_ts := sluice.from_ms(place.scheduled_ms);
    slot.rl_wndw_config_id := place.config_id;
    slot.pool_nm := place.pool_nm;
    slot := sluice.replace_slot(before, slot, a_now);
    if before.work_in then
        perform sluice.move_work(work, slot, a_by);
    end if;
end
$$;
