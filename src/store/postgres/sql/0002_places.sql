-- How a place in a window is found and locked, for one event at a time. The rules are those of the planner
-- in src/core/slots; times are whole milliseconds since 1970 inside, so that both compute with the same
-- numbers.
--
-- Locks, in this order: pools, then configs (advisory, shared; a config change takes them exclusively), then
-- windows, chunks, events in byte order. Nothing is waited for while windows are held, but events. Advisory
-- locks are of class 7301 for pools, 7302 for chunks that are being provisioned, 7303 for config changes
-- among each other, 7304 for configs.

-- Both are stable, like what they are made of, so that the server writes them out where they are used: a call
-- would cost ten times as much.

-- Rounded up: a slot is never before the time that was asked for.
create function sluice.to_ms(moment timestamptz) returns bigint
language sql stable strict parallel safe
return ceil(extract(epoch from moment) * 1000)::bigint;

-- Exact: a double has room for microseconds until the year 2255.
create function sluice.from_ms(ms bigint) returns timestamptz
language sql stable strict parallel safe
return to_timestamp(ms::double precision / 1000);

-- Gives the windows of the chunk that starts at `chunk` their counters. False: another transaction is at
-- it, and has not ended.
create function sluice.provision(a_pool text, a_chunk bigint) returns boolean
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
    -- The pool must not be cut anew meanwhile. Tried only: whoever is here may hold a config already.
    if not pg_try_advisory_xact_lock_shared(7301, hashtext(a_pool))
        or not pg_try_advisory_xact_lock(7302, hashtext(a_pool || ' ' || a_chunk)) then
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
-- no longer. An application's transaction may.
create function sluice.provision_patiently(a_pool text, a_chunk bigint) returns boolean
language plpgsql as $$
begin
    for attempt in 1 .. 10 loop
        if sluice.provision(a_pool, a_chunk) then
            return true;
        end if;
        perform pg_sleep(0.01);
    end loop;
    return false;
end
$$;

-- The first chunk of [a_from, a_until) that was not provisioned; null when all were. a_until null: no end.
create function sluice.first_gap(a_pool text, a_from bigint, a_until bigint, a_chunk_ms bigint)
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

-- Raises what is known of a chunk's smallest counter. Whoever lowers a counter lowers the bound after it, so
-- the counters are read only once the chunk is ours; if it is not, somebody else will raise it.
create function sluice.raise_bound(a_pool text, a_chunk timestamptz) returns void
language plpgsql as $$
begin
    perform 1 from @tables@.rl_wndw_frontier_trk f
    where f.pool_nm = a_pool and f.req_ts = a_chunk
    for update skip locked;
    if found then
        update @tables@.rl_wndw_frontier_trk f
        set slot_ct_min = (select min(w.slot_ct) from @tables@.rl_wndw_ct w
                           where w.pool_nm = a_pool and w.wndw_strt_ts >= f.req_ts
                             and w.wndw_strt_ts < f.wndw_end_ts)
        where f.pool_nm = a_pool and f.req_ts = a_chunk;
    end if;
end
$$;

-- Writes down that all chunks from a_first to this one have their counters, so that the next search need not
-- count them. If somebody holds the chunk, the next search will.
create function sluice.note_run(a_pool text, a_chunk timestamptz, a_first timestamptz) returns void
language sql as $$
    update @tables@.rl_wndw_frontier_trk f set run_strt_ts = a_first
    where (f.pool_nm, f.req_ts, f.wndw_end_ts) in (
        select g.pool_nm, g.req_ts, g.wndw_end_ts from @tables@.rl_wndw_frontier_trk g
        where g.pool_nm = a_pool and g.req_ts = a_chunk
        for update skip locked)
$$;

-- The active version of a config, locked shared: a change waits until this transaction ends. What it says of
-- its pool holds as long: windows are cut anew only by a change of the one config that uses them.
create function sluice.enter_config(a_config text, out config_id text, out cap integer, out pool_nm text,
    out lookahead bigint, out size bigint, out chunk_ms bigint)
language plpgsql as $$
begin
    -- Tried first, because an expression costs far less than a statement.
    if not pg_try_advisory_xact_lock_shared(7304, hashtext(a_config)) then
        perform pg_advisory_xact_lock_shared(7304, hashtext(a_config));
    end if;
    select c.rl_wndw_config_id, c.wndw_max_event_ct, c.pool_nm, c.max_lookahead_ct, c.wndw_size_ms,
           c.wndw_size_ms * c.chunk_ct
    into enter_config.config_id, enter_config.cap, enter_config.pool_nm, enter_config.lookahead,
         enter_config.size, enter_config.chunk_ms
    from @tables@.rl_event_wndw_config c
    where c.wndw_config_nm = a_config and c.act_in = 1;
    if not found then
        raise exception using errcode = 'SL404', message = format('There is no config named %L.', a_config);
    end if;
end
$$;

create type sluice.place as (config_id text, pool_nm text, window_ms bigint, scheduled_ms bigint);

-- The earliest window with room that nobody holds, now locked by us, and a time in it. Counts nothing yet.
-- SL503: every window within reach is full. SL409: others hold those that are not.
create function sluice.take_place(a_config text, a_requested bigint, a_weight integer, a_max_delay bigint)
returns sluice.place language plpgsql as $$
declare
    terms record;
    ten_years constant bigint := 3653::bigint * 86400000;
    first_window bigint;
    first_strt timestamptz;
    first_room integer; -- What the requested window may hold for the event to fit; negative: it never does.
    room integer;       -- The same of the windows behind it.
    latest bigint;      -- The last millisecond that the event may have.
    last_window bigint;
    reach_end timestamptz;
    -- Chunks that begin later are never swept: what was written of a run of them holds.
    kept_from constant timestamptz := clock_timestamp() - interval '1 hour';
    position bigint;    -- The first chunk that was not looked at yet.
    position_ts timestamptz;
    chunk record;
    gap bigint;
    held record;
    busy boolean;
begin
    terms := sluice.enter_config(a_config);
    if a_weight > terms.cap then
        raise exception using errcode = 'SL400',
            message = format('The weight exceeds maxPerWindow, which is %s.', terms.cap);
    end if;
    first_window := a_requested - a_requested % terms.size;
    first_room := terms.cap::bigint * (first_window + terms.size - a_requested) / terms.size - a_weight;
    room := terms.cap - a_weight;
    latest := a_requested + coalesce(a_max_delay, ten_years);
    last_window := latest - latest % terms.size;
    if terms.lookahead < (last_window - first_window) / terms.size then -- Else the product may not fit.
        last_window := first_window + terms.lookahead * terms.size;
    end if;
    first_strt := sluice.from_ms(first_window);
    reach_end := sluice.from_ms(last_window + terms.size);
    for attempt in 1 .. 12 loop
        busy := false;
        position := a_requested - a_requested % terms.chunk_ms;
        loop
            position_ts := sluice.from_ms(position);
            -- The first chunk that may have room, unless one before it was not provisioned: that is empty. In
            -- it, the first window with room that nobody holds.
            select c.req_ts, c.wndw_end_ts, c.run_strt_ts, sluice.to_ms(c.req_ts) as ms, c.is_next,
                   w.wndw_strt_ts
            into chunk
            from (select f.req_ts, f.wndw_end_ts, f.run_strt_ts,
                         case when f.run_strt_ts <= position_ts and position_ts > kept_from then true
                              else (select count(*) from @tables@.rl_wndw_frontier_trk g
                                    where g.pool_nm = terms.pool_nm and g.req_ts >= position_ts
                                      and g.req_ts < f.req_ts) * terms.chunk_ms
                                   = sluice.to_ms(f.req_ts) - position end as is_next
                  from @tables@.rl_wndw_frontier_trk f
                  where f.pool_nm = terms.pool_nm and f.req_ts >= position_ts
                    and f.slot_ct_min <= room
                  order by f.req_ts limit 1) as c
            left join lateral (
                select o.wndw_strt_ts from @tables@.rl_wndw_ct o
                where c.is_next and o.pool_nm = terms.pool_nm
                  and o.wndw_strt_ts >= greatest(c.req_ts, first_strt)
                  and o.wndw_strt_ts < least(c.wndw_end_ts, reach_end)
                  and o.slot_ct <= case when o.wndw_strt_ts = first_strt then first_room else room end
                order by o.wndw_strt_ts limit 1
                for update skip locked) as w on true;
            if chunk.is_next and position_ts > kept_from
                and coalesce(chunk.run_strt_ts > position_ts, true) then
                perform sluice.note_run(terms.pool_nm, chunk.req_ts, position_ts);
            end if;
            if chunk.wndw_strt_ts is not null then
                return sluice.draw_time(terms.config_id, terms.pool_nm,
                    sluice.to_ms(chunk.wndw_strt_ts), terms.size, a_requested, latest);
            end if;
            if chunk.is_next is not true then
                gap := sluice.first_gap(terms.pool_nm, position, chunk.ms, terms.chunk_ms);
                continue when gap is null; -- It was provisioned meanwhile.
                exit when sluice.from_ms(gap) >= reach_end;
                if not sluice.provision_patiently(terms.pool_nm, gap) then
                    busy := true;
                    position := gap + terms.chunk_ms;
                end if;
                continue;
            end if;
            exit when chunk.req_ts >= reach_end;

            -- Full, or held by others? Reading without a lock tells.
            select min(w.slot_ct) as least_ct,
                   bool_or(w.wndw_strt_ts >= first_strt and w.wndw_strt_ts < reach_end
                           and w.slot_ct <= case when w.wndw_strt_ts = first_strt then first_room
                                                 else room end) as has_room
            into held
            from @tables@.rl_wndw_ct w
            where w.pool_nm = terms.pool_nm and w.wndw_strt_ts >= chunk.req_ts
              and w.wndw_strt_ts < chunk.wndw_end_ts;
            busy := busy or held.has_room;
            if held.least_ct > room then
                perform sluice.raise_bound(terms.pool_nm, chunk.req_ts);
            end if;
            position := chunk.ms + terms.chunk_ms;
        end loop;
        if not busy then
            raise exception using errcode = 'SL503', message = 'Every window within reach is full.';
        end if;
        perform pg_sleep(0.005 * attempt);
    end loop;
    raise exception using errcode = 'SL409', message = 'Others hold the windows that have room.';
end
$$;

-- A time in the window, uniform over all that lie neither before the requested one nor after the latest.
create function sluice.draw_time(a_config_id text, a_pool text, a_window bigint, a_size bigint,
                                 a_requested bigint, a_latest bigint)
returns sluice.place language sql volatile
return row(a_config_id, a_pool, a_window,
    greatest(a_requested, a_window) + floor(random()
        * (least(a_window + a_size - 1, a_latest) - greatest(a_requested, a_window) + 1))::bigint)::sluice.place;

-- Provisions the chunks of all these windows, in ascending order. Gives those that another transaction is at.
create function sluice.provision_windows(a_pool text, a_windows bigint[]) returns setof bigint
language sql as $$
    with provisioned as materialized (
        select chunk, sluice.provision(a_pool, chunk) as done
        from (select distinct window_ms - window_ms % (p.wndw_size_ms * p.chunk_ct) as chunk
              from unnest(a_windows) as window_ms join sluice.pool p on p.pool_nm = a_pool
              order by 1) as chunks
    )
    select window_ms
    from unnest(a_windows) as window_ms join sluice.pool p on p.pool_nm = a_pool
    join provisioned on chunk = window_ms - window_ms % (p.wndw_size_ms * p.chunk_ct)
    where not done
$$;
