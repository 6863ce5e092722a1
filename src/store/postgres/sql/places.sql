-- How a place in a window is found and locked, for one event at a time. The rules are those of the planner
-- in src/core/slots; times are whole milliseconds since 1970 inside, so that both compute with the same
-- numbers.
--
-- Locks, in this order: pools, then configs (advisory, shared; a config change and retention take them
-- exclusively), then windows, chunks, events in byte order. Nothing is waited for while windows are held, but
-- events. Advisory locks are of class 7301 for pools, 7302 for chunks that are being provisioned, 7303 for config
-- changes among each other, 7304 for configs, 7305 for the terms of dispatch.
--
-- Who assigns in a pool holds it, or one of its active configs: batches, cancelling and moving hold pools, the
-- function holds its config. Who wants all of them out takes the pool and then the configs.

-- Takes such a lock exclusively, or fails at a_until: whoever comes meanwhile queues behind it.
create or replace function sluice.shut(a_class integer, a_name text, a_until timestamptz) returns void
language plpgsql as $$
begin
    perform set_config('lock_timeout',
        greatest(1, ceil(extract(epoch from a_until - clock_timestamp()) * 1000))::integer::text, true);
    perform pg_advisory_xact_lock(a_class, hashtext(a_name));
end
$$;

-- Both are stable, like what they are made of, so that the server writes them out where they are used: a call
-- would cost ten times as much.

-- Rounded up: a slot is never before the time that was asked for.
create or replace function sluice.to_ms(moment timestamptz) returns bigint
language sql stable strict parallel safe
return ceil(extract(epoch from moment) * 1000)::bigint;

-- Exact: a double has room for microseconds until the year 2255.
create or replace function sluice.from_ms(ms bigint) returns timestamptz
language sql stable strict parallel safe
return to_timestamp(ms::double precision / 1000);

-- REPEATABLE READ and SERIALIZABLE: the whole transaction sees what was there when it began. What it locks or
-- writes fails with 40001 if it was changed since; what it only reads may be old.
create or replace function sluice.has_one_snapshot() returns boolean
language sql stable
return current_setting('transaction_isolation') <> 'read committed';

-- Gives the windows of the chunk that starts at `chunk` their counters. False: another transaction is at
-- it, and has not ended. The caller holds the pool or one of its configs: the pool is not cut anew meanwhile.
create or replace function sluice.provision(a_pool text, a_chunk bigint) returns boolean
language plpgsql as $$
declare
    size bigint;
    windows integer;
begin
    perform 1 from @tables@.rl_wndw_frontier_trk f
    where f.pool_nm = a_pool and f.req_ts = sluice.from_ms(a_chunk);
    if found then
        return true;
    end if;
    if not pg_try_advisory_xact_lock(7302, hashtext(a_pool || ' ' || a_chunk)) then
        return false;
    end if;
    select p.wndw_size_ms, p.chunk_ct into size, windows from sluice.pool p where p.pool_nm = a_pool;
    if a_chunk % (size * windows) <> 0 then
        return false; -- It was cut anew before we came; the caller looks again.
    end if;
    insert into @tables@.rl_wndw_ct (pool_nm, wndw_strt_ts, slot_ct)
    select a_pool, sluice.from_ms(a_chunk + number * size), 0
    from generate_series(0, windows - 1) as number
    on conflict do nothing;
    insert into @tables@.rl_wndw_frontier_trk (pool_nm, req_ts, wndw_end_ts, run_strt_ts)
    values (a_pool, sluice.from_ms(a_chunk), sluice.from_ms(a_chunk + windows * size),
            coalesce((select f.run_strt_ts from @tables@.rl_wndw_frontier_trk f
                      where f.pool_nm = a_pool and f.req_ts = sluice.from_ms(a_chunk - windows * size)),
                     sluice.from_ms(a_chunk)))
    on conflict do nothing;
    return true;
end
$$;

-- The same, for who would rather wait for a moment than go on without the chunk: a node that is at it needs
-- no longer. An application's transaction may: a session that has waited in vain waits for nobody in the rest of
-- that second, or each event of a batch would wait anew.
create or replace function sluice.provision_patiently(a_pool text, a_chunk bigint) returns boolean
language plpgsql as $$
declare
    this_second constant text := floor(extract(epoch from clock_timestamp()))::text;
    tries constant integer := case when current_setting('sluice.waited_in_vain', true) = this_second then 1 else 10 end;
begin
    for attempt in 1 .. tries loop
        if sluice.provision(a_pool, a_chunk) then
            return true;
        end if;
        exit when attempt = tries;
        perform pg_sleep(0.01);
    end loop;
    perform set_config('sluice.waited_in_vain', this_second, false);
    return false;
end
$$;

-- The first chunk of [a_from, a_until) that was not provisioned; null when all were. a_until null: no end.
create or replace function sluice.first_gap(a_pool text, a_from bigint, a_until bigint, a_chunk_ms bigint)
returns bigint language plpgsql as $$
declare
    present bigint;
    gap bigint;
begin
    select count(*) into present from @tables@.rl_wndw_frontier_trk f
    where f.pool_nm = a_pool and f.req_ts >= sluice.from_ms(a_from)
      and f.req_ts < coalesce(sluice.from_ms(a_until), 'infinity');
    if present = (a_until - a_from) / a_chunk_ms then
        return null;
    end if;
    select min(listed.expected) into gap
    from (select sluice.to_ms(f.req_ts) as chunk,
                 a_from + (row_number() over (order by f.req_ts) - 1) * a_chunk_ms as expected
          from @tables@.rl_wndw_frontier_trk f
          where f.pool_nm = a_pool and f.req_ts >= sluice.from_ms(a_from)) as listed
    where listed.chunk <> listed.expected;
    return coalesce(gap, a_from + present * a_chunk_ms);
end
$$;

-- Raises what is known of a chunk: its smallest counter, and how many windows in front hold more than a_room,
-- with which the event would not fit. Whoever lowers a counter writes to the chunk after it, so the counters are
-- read only once the chunk is ours; if it is not, somebody else will raise them. A transaction with one snapshot
-- reads counters as they were, and must not tell others of them.
create or replace function sluice.raise_bounds(a_pool text, a_chunk timestamptz, a_chunk_end timestamptz, a_room bigint)
returns void language plpgsql as $$
begin
    if sluice.has_one_snapshot() then
        return;
    end if;
    perform 1 from @tables@.rl_wndw_frontier_trk f
    where f.pool_nm = a_pool and f.req_ts = a_chunk
    for update skip locked;
    if found then
        update @tables@.rl_wndw_frontier_trk f
        set slot_ct_min = known.least_ct, full_end_ts = known.open_strt, full_ct = a_room + 1
        from (select min(w.slot_ct) as least_ct,
                     coalesce(min(w.wndw_strt_ts) filter (where w.slot_ct <= a_room), a_chunk_end) as open_strt
              from @tables@.rl_wndw_ct w
              where w.pool_nm = a_pool and w.wndw_strt_ts >= a_chunk and w.wndw_strt_ts < a_chunk_end) as known
        where f.pool_nm = a_pool and f.req_ts = a_chunk;
    end if;
end
$$;

-- The same for the chunk of this window and those in front of it, where no window is left that holds as little as
-- the chunk says. The last windows are looked at first: they are the last to be filled.
create or replace function sluice.raise_behind(a_pool text, a_window bigint) returns void
language plpgsql as $$
begin
    perform sluice.raise_bounds(a_pool, f.req_ts, f.wndw_end_ts, f.slot_ct_min)
    from sluice.pool p
    join @tables@.rl_wndw_frontier_trk f
        on f.pool_nm = p.pool_nm and f.req_ts <= sluice.from_ms(a_window)
           and f.req_ts > sluice.from_ms(a_window - 256 * p.wndw_size_ms * p.chunk_ct)
    left join lateral (select w.slot_ct from @tables@.rl_wndw_ct w
                       where w.pool_nm = a_pool and w.wndw_strt_ts >= f.req_ts
                         and w.wndw_strt_ts < f.wndw_end_ts and w.slot_ct <= f.slot_ct_min
                       order by w.wndw_strt_ts desc limit 1) as emptiest on true
    where p.pool_nm = a_pool and emptiest.slot_ct is null;
end
$$;

-- Lowers it to what a window holds that now holds less. Writes to the chunk in any case: who has an older snapshot
-- of the window learns from it that something has changed.
create or replace function sluice.lower_bounds(a_pool text, a_chunk timestamptz, a_window timestamptz, a_left bigint)
returns void language plpgsql as $$
begin
    update @tables@.rl_wndw_frontier_trk f
    set slot_ct_min = least(f.slot_ct_min, a_left),
        full_end_ts = case when f.full_ct > a_left then least(f.full_end_ts, a_window) else f.full_end_ts end
    where f.pool_nm = a_pool and f.req_ts = a_chunk;
end
$$;

-- Writes down that all chunks from a_first to this one have their counters, so that the next search need not
-- count them. If somebody holds the chunk, the next search will.
create or replace function sluice.note_run(a_pool text, a_chunk timestamptz, a_first timestamptz) returns void
language sql as $$
    update @tables@.rl_wndw_frontier_trk f set run_strt_ts = a_first
    where (f.pool_nm, f.req_ts, f.wndw_end_ts) in (
        select g.pool_nm, g.req_ts, g.wndw_end_ts from @tables@.rl_wndw_frontier_trk g
        where g.pool_nm = a_pool and g.req_ts = a_chunk and coalesce(g.run_strt_ts > a_first, true)
          and not sluice.has_one_snapshot()
        for update skip locked)
$$;

-- Why nothing was found in a chunk: true when others hold windows that have room; else all that may be taken
-- are full. Reading without a lock tells. Raises the chunk's bounds if it is full.
create or replace function sluice.is_held(a_pool text, a_chunk timestamptz, a_chunk_end timestamptz, a_first timestamptz,
    a_reach_end timestamptz, a_first_room bigint, a_room bigint) returns boolean
language plpgsql as $$
declare
    least_ct bigint;
    has_room boolean;
begin
    select min(w.slot_ct),
           bool_or(w.wndw_strt_ts >= a_first and w.wndw_strt_ts < a_reach_end
                   and w.slot_ct <= case when w.wndw_strt_ts = a_first then a_first_room else a_room end)
    into least_ct, has_room
    from @tables@.rl_wndw_ct w
    where w.pool_nm = a_pool and w.wndw_strt_ts >= a_chunk and w.wndw_strt_ts < a_chunk_end;
    if least_ct > a_room then
        perform sluice.raise_bounds(a_pool, a_chunk, a_chunk_end, a_room);
    end if;
    return has_room;
end
$$;

-- The first chunk from a_position on that was not provisioned or has a window with room, whoever holds it: past
-- a backlog whose bounds nobody has raised, at one statement for all of it.
create or replace function sluice.pass_full(a_pool text, a_position timestamptz, a_reach_end timestamptz,
    a_room bigint, a_chunk_ms bigint) returns timestamptz
language plpgsql as $$
declare
    open_strt timestamptz;
begin
    select f.req_ts into open_strt
    from @tables@.rl_wndw_frontier_trk f
    cross join lateral (select from @tables@.rl_wndw_ct w
                        where w.pool_nm = a_pool and w.wndw_strt_ts >= f.req_ts
                          and w.wndw_strt_ts < f.wndw_end_ts and w.slot_ct <= a_room limit 1) as w
    where hashtext(f.pool_nm) = hashtext(a_pool) and f.req_ts >= a_position and f.req_ts < a_reach_end
      and f.slot_ct_min <= a_room and (f.pool_nm = a_pool) is true
    order by f.req_ts limit 1;
    return coalesce(sluice.from_ms(sluice.first_gap(a_pool, sluice.to_ms(a_position), sluice.to_ms(open_strt),
                                                    a_chunk_ms)), open_strt);
end
$$;

-- A time in the window, uniform over all that lie neither before the requested one nor after the latest.
create or replace function sluice.draw_time(a_window bigint, a_size bigint, a_requested bigint, a_latest bigint)
returns bigint language sql volatile
return greatest(a_requested, a_window) + floor(random()
    * (least(a_window + a_size - 1, a_latest) - greatest(a_requested, a_window) + 1))::bigint;

-- The earliest window with room that nobody holds, now counted and so held by us, and a time in it. Enters the
-- config: a change of it waits until this transaction ends, and so does one of its pool, whose windows are cut
-- anew only by a change of the one config that uses them.
-- SL404: there is no such config. SL503: every window within reach is full. SL409: others hold those that are
-- not. 40001: the config, or a window that was full, has changed since the transaction's one snapshot.
--
-- Most calls are alone in their transaction, in which the server prepares each expression anew: what they all
-- need is computed inside the statements.
create or replace function sluice.take_place(a_config text, a_requested bigint, a_weight integer, a_max_delay bigint)
returns sluice.place language plpgsql as $$
declare
    config_id text;
    pool text;
    pool_hash integer;
    size bigint;
    chunk_ms bigint;
    room bigint;           -- What a window may hold for the event to fit.
    first_room bigint;     -- The same of the requested one; negative: it never fits.
    first_strt timestamptz;
    reach_end timestamptz;
    asked bigint;          -- The requested time, or the present in its place.
    latest bigint;         -- The last millisecond that the event may have.
    cell_ct integer;       -- Of a stratified window; else null.
    taken_cells smallint[]; -- The window's, with those of the event.
    taken_ms bigint;       -- The event's time in them.
    position timestamptz;  -- The first chunk that was not looked at yet.
    sure_ts timestamptz;   -- From the position to there, all chunks have their counters.
    chunk_strt timestamptz;
    chunk_end timestamptz;
    run_strt timestamptz;
    open_strt timestamptz; -- The first window of the chunk that may have room.
    full_ct bigint;        -- What all in front of it hold, or more.
    window_row tid;
    window_ms bigint;
    place sluice.place;
    gap bigint;
    busy boolean;
    passed integer;        -- Chunks in which nothing was found.
    attempt integer;
    is_old boolean;        -- What is read may be: see has_one_snapshot().
begin
    -- Tried first, because an expression costs far less than a statement.
    if not pg_try_advisory_xact_lock_shared(7304, hashtext(a_config)) then
        perform pg_advisory_xact_lock_shared(7304, hashtext(a_config));
    end if;
    select c.rl_wndw_config_id, c.pool_nm, hashtext(c.pool_nm), c.wndw_size_ms, c.chunk_ms,
           c.wndw_max_event_ct - a_weight,
           c.wndw_max_event_ct::bigint * (c.first_ms + c.wndw_size_ms - c.asked) / c.wndw_size_ms
               - a_weight,
           sluice.from_ms(c.first_ms),
           sluice.from_ms(c.first_ms + c.wndw_size_ms
               * (1 + least((c.latest - c.first_ms) / c.wndw_size_ms, c.max_lookahead_ct))),
           c.asked, c.latest, sluice.from_ms(c.asked - c.asked % c.chunk_ms),
           case when c.spread_cd = 1 then c.wndw_max_event_ct end, sluice.has_one_snapshot()
    into config_id, pool, pool_hash, size, chunk_ms, room, first_room, first_strt, reach_end, asked, latest, position,
         cell_ct, is_old
    from (select o.*, o.wndw_size_ms * o.chunk_ct as chunk_ms,
                 o.asked - o.asked % o.wndw_size_ms as first_ms,
                 o.asked + coalesce(a_max_delay, 3653::bigint * 86400000) as latest -- Ten years.
          from (select v.*, case v.past_cd when 0 then a_requested
                            else greatest(a_requested, (sluice.limit_clock() + 999) / 1000) end as asked
                from @tables@.rl_event_wndw_config v where v.wndw_config_nm = a_config and v.act_in = 1) as o) as c;
    if (room >= 0 and not is_old) is not true then
        if room is null then
            raise exception using errcode = 'SL404',
                message = format('There is no config named %L.', a_config);
        end if;
        if is_old then -- Is it the active version still?
            perform 1 from @tables@.rl_event_wndw_config c where c.rl_wndw_config_id = config_id for share;
        end if;
        if room < 0 then
            raise exception using errcode = 'SL400',
                message = format('The weight exceeds maxPerWindow, which is %s.', room + a_weight);
        end if;
    end if;
    loop
        loop
            -- The first chunk that may have room, unless one before it was not provisioned: that is empty.
            select f.req_ts, f.wndw_end_ts, f.run_strt_ts, f.full_ct,
                   case when f.full_ct > room then f.full_end_ts else f.req_ts end
            into chunk_strt, chunk_end, run_strt, full_ct, open_strt
            from @tables@.rl_wndw_frontier_trk f
            where hashtext(f.pool_nm) = pool_hash and f.req_ts >= position and f.slot_ct_min <= room
              and (f.pool_nm = pool) is true -- Said so, it leaves the choice of the index alone.
            order by f.req_ts limit 1;
            -- Chunks of the last hour and later are never swept: what was written of a run of them holds.
            if (run_strt <= position and position > clock_timestamp() - interval '1 hour'
                or chunk_strt <= sure_ts) is not true then
                gap := sluice.first_gap(pool, sluice.to_ms(position), sluice.to_ms(chunk_strt), chunk_ms);
                exit when sluice.from_ms(gap) >= reach_end;
                if gap is null then -- Is one with room in front of it, now that all are there?
                    sure_ts := chunk_strt;
                    perform sluice.note_run(pool, chunk_strt, position);
                elsif not sluice.provision_patiently(pool, gap) then
                    busy := true;
                    position := sluice.from_ms(gap + chunk_ms);
                end if;
                continue;
            end if;

            select w.ctid, sluice.to_ms(w.wndw_strt_ts) into window_row, window_ms
            from @tables@.rl_wndw_ct w
            where w.pool_nm = pool and w.wndw_strt_ts >= greatest(open_strt, first_strt)
              and w.wndw_strt_ts < least(chunk_end, reach_end)
              and w.slot_ct <= case when w.wndw_strt_ts = first_strt then first_room else room end
            order by w.wndw_strt_ts limit 1
            for update skip locked;
            if found then
                if cell_ct is not null then
                    select p.cells, p.scheduled_ms into taken_cells, taken_ms
                    from @tables@.rl_wndw_ct w,
                         sluice.cells_of(w.cells, w.slot_ct, cell_ct) as known,
                         sluice.place_in_cells(known, window_ms, size, asked, latest, a_weight) as p
                    where w.ctid = window_row and known is not null;
                    -- The window has room, but no cell that max_delay allows. It is the last within reach.
                    exit when found and taken_cells is null;
                end if;
                update @tables@.rl_wndw_ct w set slot_ct = w.slot_ct + a_weight, cells = taken_cells
                where w.ctid = window_row -- Ours: it stays where it is.
                returning config_id, pool, window_ms,
                          coalesce(taken_ms, sluice.draw_time(window_ms, size, asked, latest))
                into place;
                -- A quarter of the chunk was in the way: the next search need not look at it again.
                if window_ms - sluice.to_ms(open_strt) >= chunk_ms / 4 and open_strt >= first_strt
                    and coalesce(full_ct, 0) <= room + 1 then
                    perform sluice.raise_bounds(pool, chunk_strt, chunk_end, room);
                end if;
                return place;
            end if;
            exit when chunk_strt >= reach_end;
            busy := sluice.is_held(pool, chunk_strt, chunk_end, first_strt, reach_end, first_room, room) or busy;
            position := chunk_end;
            passed := coalesce(passed, 0) + 1;
            if passed % 16 = 0 then
                position := sluice.pass_full(pool, position, reach_end, room, chunk_ms);
            end if;
        end loop;
        attempt := coalesce(attempt, 0) + 1;
        if busy is not true then
            if is_old then -- Whoever has lowered a counter since has written to its chunk.
                perform 1 from @tables@.rl_wndw_frontier_trk f
                where f.pool_nm = pool and f.req_ts < reach_end
                  and f.req_ts >= sluice.from_ms(asked - asked % chunk_ms)
                order by f.req_ts for share;
            end if;
            raise exception using errcode = 'SL503', message = 'Every window within reach is full.';
        elsif attempt > 12 then
            raise exception using errcode = 'SL409', message = 'Others hold the windows that have room.';
        end if;
        perform pg_sleep(0.005 * attempt);
        busy := false;
        position := sluice.from_ms(asked - asked % chunk_ms);
    end loop;
end
$$;

-- Gives back a place that this transaction took, for nobody. Others have not seen its count and raised no
-- bound by it; if we have, the chunk is ours. So nothing is waited for.
create or replace function sluice.untake_place(a_place sluice.place, a_weight integer) returns void
language plpgsql as $$
declare
    window_strt constant timestamptz := sluice.from_ms(a_place.window_ms);
    left_ct bigint;
begin
    update @tables@.rl_wndw_ct w
    set slot_ct = w.slot_ct - a_weight,
        cells = sluice.release_cells(w.cells, a_place.scheduled_ms - a_place.window_ms,
            (select p.wndw_size_ms from sluice.pool p where p.pool_nm = a_place.pool_nm))
    where w.pool_nm = a_place.pool_nm and w.wndw_strt_ts = window_strt
    returning w.slot_ct into left_ct;
    perform sluice.lower_bounds(p.pool_nm, f.req_ts, window_strt, left_ct)
    from sluice.pool p
    join @tables@.rl_wndw_frontier_trk f on f.pool_nm = p.pool_nm and f.req_ts
        = sluice.from_ms(a_place.window_ms - a_place.window_ms % (p.wndw_size_ms * p.chunk_ct))
    where p.pool_nm = a_place.pool_nm
      and (f.slot_ct_min > left_ct or f.full_ct > left_ct and f.full_end_ts > window_strt);
end
$$;

-- Provisions the chunks of all these windows, in ascending order. Gives all windows of those chunks that another
-- transaction is at.
create or replace function sluice.provision_windows(a_pool text, a_windows bigint[]) returns setof bigint
language sql as $$
    select pg_advisory_xact_lock_shared(7301, hashtext(a_pool));
    with provisioned as materialized (
        select chunk, sluice.provision(a_pool, chunk) as done
        from (select distinct window_ms - window_ms % (p.wndw_size_ms * p.chunk_ct) as chunk
              from unnest(a_windows) as window_ms join sluice.pool p on p.pool_nm = a_pool
              order by 1) as chunks
    )
    select chunk + number * p.wndw_size_ms
    from provisioned join sluice.pool p on p.pool_nm = a_pool, generate_series(0, p.chunk_ct - 1) as number
    where not done
$$;
