-- The peer's algorithm: one call, one transaction, one event. Its service keeps the config, and the knowledge
-- that a first window is full, in its own memory. Here the config arrives as arguments, and the session
-- remembers the first window, so that neither costs the peer a query.

-- Makes sure that the windows [chunk_start, chunk_end) have rows, and that the frontier says so.
create function provision(aligned timestamptz, chunk_start timestamptz, chunk_end timestamptz, size interval)
returns void language plpgsql as $$
begin
    -- Whoever finds the last row there leaves the work to the one who wrote it.
    perform 1 from rl_wndw_ct where wndw_strt_ts = chunk_end - size;
    if not found then
        insert into rl_wndw_ct (wndw_strt_ts, slot_ct)
        select moment, 0 from generate_series(chunk_start, chunk_end - size, size) as moment
        on conflict do nothing;
    end if;
    insert into rl_wndw_frontier_trk (req_ts, wndw_end_ts) values (aligned, chunk_end) on conflict do nothing;
end
$$;

-- The earliest window of [search_from, search_end) that has room and that nobody holds, now locked by us;
-- null when there is none.
create function find_and_lock(search_from timestamptz, search_end timestamptz, cap integer)
returns timestamptz language plpgsql as $$
declare
    found_window timestamptz;
begin
    loop
        select outermost.wndw_strt_ts into found_window
        from rl_wndw_ct outermost
        where outermost.wndw_strt_ts = (
            select candidate.wndw_strt_ts from rl_wndw_ct candidate
            where candidate.wndw_strt_ts >= search_from and candidate.wndw_strt_ts < search_end
              and candidate.slot_ct < cap
            order by candidate.wndw_strt_ts fetch first 1 row only)
          and outermost.slot_ct < cap
        for update skip locked;
        if found then
            return found_window;
        end if;
        -- The scout: nothing with room at all, or only one that somebody holds?
        select candidate.wndw_strt_ts into found_window
        from rl_wndw_ct candidate
        where candidate.wndw_strt_ts >= search_from and candidate.wndw_strt_ts < search_end
          and candidate.slot_ct < cap
        order by candidate.wndw_strt_ts fetch first 1 row only;
        if not found then
            return null;
        end if;
        search_from := found_window + interval '1 microsecond';
    end loop;
end
$$;

-- Stores the event in a window that we hold. An event that another call stored meanwhile keeps its slot.
create function claim(event text, requested timestamptz, claimed timestamptz, jitter_ms integer,
                      config_id text)
returns timestamptz language plpgsql as $$
declare
    scheduled timestamptz := claimed + make_interval(secs => jitter_ms / 1000.0);
begin
    insert into rl_event_slot_dtl (wndw_slot_id, event_id, req_ts, wndw_strt_ts, computed_sched_ts,
                                   rl_wndw_config_id)
    values (gen_random_uuid()::text, event, requested, claimed, scheduled, config_id)
    on conflict (event_id) do nothing;
    if not found then
        select computed_sched_ts into scheduled from rl_event_slot_dtl where event_id = event;
        return scheduled;
    end if;
    update rl_wndw_ct set slot_ct = slot_ct + 1 where wndw_strt_ts = claimed;
    return scheduled;
end
$$;

create function assign_slot(event text, requested timestamptz, cap integer, size_ms integer, config_id text)
returns timestamptz language plpgsql as $$
declare
    windows_in_chunk constant integer := 100;
    chunks_to_search constant integer := 2;
    size constant interval := make_interval(secs => size_ms / 1000.0);
    requested_ms constant bigint := (extract(epoch from requested) * 1000)::bigint;
    elapsed_ms constant integer := (requested_ms % size_ms)::integer;
    aligned constant timestamptz := requested - make_interval(secs => elapsed_ms / 1000.0);
    first_cap constant integer := cap::bigint * (size_ms - elapsed_ms) / size_ms;
    held integer;
    scheduled timestamptz;
    frontier timestamptz;
    chunk_end timestamptz;
    locked timestamptz;
begin
    select computed_sched_ts into scheduled from rl_event_slot_dtl where event_id = event;
    if found then
        return scheduled;
    end if;

    if current_setting('seed.first_full', true) is distinct from requested_ms::text then
        insert into rl_wndw_ct (wndw_strt_ts, slot_ct) values (aligned, 0) on conflict do nothing;
        select slot_ct into held from rl_wndw_ct where wndw_strt_ts = aligned for update skip locked;
        if held < first_cap then
            return claim(event, requested, aligned,
                         elapsed_ms + floor(random() * (size_ms - elapsed_ms))::integer, config_id);
        elsif held is not null then
            perform set_config('seed.first_full', requested_ms::text, false);
        end if;
    end if;

    select max(wndw_end_ts) into frontier from rl_wndw_frontier_trk where req_ts = aligned;
    if frontier is null then
        frontier := aligned + size * (windows_in_chunk + 1);
        perform provision(aligned, aligned + size, frontier, size);
    end if;
    locked := find_and_lock(aligned + size, frontier, cap);
    for chunk in 1 .. chunks_to_search loop
        exit when locked is not null;
        chunk_end := frontier + size * windows_in_chunk;
        perform provision(aligned, frontier, chunk_end, size);
        locked := find_and_lock(frontier, chunk_end, cap);
        frontier := chunk_end;
    end loop;
    if locked is null then
        raise exception 'no window for event %', event;
    end if;
    return claim(event, requested, locked, floor(random() * size_ms)::integer, config_id);
end
$$;
