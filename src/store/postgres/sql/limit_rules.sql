-- The rules of limits: those of src/core/limits, number by number, so that both decide alike. Whole
-- microseconds since 1970; every number stays below 2^53.
--
-- A rule is an algorithm and three numbers, its terms. The first is always the limit.
--     0 token_bucket             limit, units in a token, units that a microsecond adds
--     1 fixed_window             limit, kind (0 aligned, 1 first hit, 2 day, 3 week, 4 month, 5 year), size
--     2 sliding_window           limit, window
--     3 sliding_window_estimate  limit, window
--     4 cooldown                 limit, pause
--     5 concurrency              limit, how long a lease lasts
--
-- What is remembered of a key is an array, too; null: nothing.
--     0  level in units, when it was that
--     1  used, start of the window
--     2  for each charge: when, cost. Oldest first.
--     3  start of the window, used in it, used in the one before
--     4  last event, start of the hour, events in it; the smallest bigint stands for never
--     5  for each lease: when it was granted, places, its id. Oldest first.

-- All below: 0 <= a_cost <= the limit; a cost of 0 is a peek.

-- How full a bucket is at a_now, in units, and the moment that this holds for: a clock that has stepped back
-- adds nothing. The time that has passed is clipped to that of filling, so that the product fits.
create or replace function sluice.refill_token_bucket(a_terms bigint[], a_state bigint[], a_now bigint) returns bigint[]
language plpgsql immutable parallel safe as $$
declare
    capacity constant bigint := a_terms[1] * a_terms[2]; -- In units.
    speed constant bigint := a_terms[3];
    level constant bigint := greatest(0, least(a_state[1], capacity));
begin
    if a_state is null then
        return array[capacity, a_now];
    elsif a_now <= a_state[2] then
        return array[level, a_state[2]];
    end if;
    return array[level + least(least(a_now - a_state[2], (capacity + speed - 1) / speed) * speed,
                               capacity - level), a_now];
end
$$;

create or replace function sluice.step_token_bucket(a_terms bigint[], a_state bigint[], a_now bigint, a_cost bigint)
returns sluice.limit_step language plpgsql immutable parallel safe as $$
declare
    unit constant bigint := a_terms[2];
    speed constant bigint := a_terms[3];
    capacity constant bigint := a_terms[1] * unit; -- In units.
    wanted constant bigint := greatest(a_cost, 1) * unit;
    filled bigint[] := sluice.refill_token_bucket(a_terms, a_state, a_now);
    full_at bigint := filled[2] + (capacity - filled[1] + speed - 1) / speed;
begin
    if filled[1] < wanted then
        return row(false, filled[1] / unit, filled[2] + (wanted - filled[1] + speed - 1) / speed - a_now,
            full_at - a_now, null, null)::sluice.limit_step;
    end if;
    if a_cost = 0 then
        return row(true, filled[1] / unit, 0, full_at - a_now, null, null)::sluice.limit_step;
    end if;
    filled[1] := filled[1] - wanted;
    full_at := filled[2] + (capacity - filled[1] + speed - 1) / speed;
    return row(true, filled[1] / unit, 0, full_at - a_now, filled, full_at)::sluice.limit_step;
end
$$;

-- Where the window of a moment begins. In calendar units, of UTC: a week begins on Monday, the first of all
-- with 1970.
create or replace function sluice.window_start(a_kind bigint, a_size bigint, a_moment bigint) returns bigint
language plpgsql immutable parallel safe as $$
declare
    day constant bigint := a_moment / 86400000000;
begin
    return case a_kind
        when 0 then a_moment - a_moment % a_size
        when 1 then a_moment
        when 2 then day * 86400000000
        when 3 then greatest(0, day - (day + 3) % 7) * 86400000000
        else (date_trunc(case a_kind when 4 then 'month' else 'year' end,
                         timestamp '1970-01-01' + day * interval '1 day')::date - date '1970-01-01')
             * 86400000000
    end;
end
$$;

-- Where the window that begins at a_start ends.
create or replace function sluice.window_end(a_kind bigint, a_size bigint, a_start bigint) returns bigint
language plpgsql immutable parallel safe as $$
declare
    day constant bigint := a_start / 86400000000;
    unit constant text := case a_kind when 4 then 'month' else 'year' end;
begin
    return case a_kind
        when 0 then a_start + a_size
        when 1 then a_start + a_size
        when 2 then (day + 1) * 86400000000
        when 3 then (day - (day + 3) % 7 + 7) * 86400000000
        else ((date_trunc(unit, timestamp '1970-01-01' + day * interval '1 day')
               + ('1 ' || unit)::interval)::date - date '1970-01-01') * 86400000000
    end;
end
$$;

create or replace function sluice.step_fixed_window(a_terms bigint[], a_state bigint[], a_now bigint, a_cost bigint)
returns sluice.limit_step language plpgsql immutable parallel safe as $$
declare
    used bigint := coalesce(a_state[1], 0);
    start bigint := coalesce(a_state[2], 0);
    window_end bigint := sluice.window_end(a_terms[2], a_terms[3], start);
    room bigint;
begin
    -- A window of its own that was given back whole has not begun.
    if window_end <= a_now or (used = 0 and a_terms[2] = 1) then
        used := 0;
        start := sluice.window_start(a_terms[2], a_terms[3], a_now);
        window_end := sluice.window_end(a_terms[2], a_terms[3], start);
    end if;
    room := greatest(0, a_terms[1] - used);
    if greatest(a_cost, 1) > room then
        return row(false, room, window_end - a_now, window_end - a_now, null, null)::sluice.limit_step;
    end if;
    if a_cost = 0 then
        return row(true, room, 0, case when used = 0 then 0 else window_end - a_now end,
            null, null)::sluice.limit_step;
    end if;
    return row(true, room - a_cost, 0, window_end - a_now, array[used + a_cost, start],
        window_end)::sluice.limit_step;
end
$$;

-- Where in a list the entries begin that still count: behind its end when none does. Time has come as far as
-- the newest entry, whatever the clock says.
create or replace function sluice.first_counting(a_list bigint[], a_stride integer, a_length bigint, a_now bigint)
returns integer language plpgsql immutable parallel safe as $$
declare
    size constant integer := coalesce(cardinality(a_list), 0);
    seen constant bigint := greatest(a_now, a_list[size - a_stride + 1]);
    first integer := 1;
begin
    while first < size and a_list[first] + a_length <= seen loop
        first := first + a_stride;
    end loop;
    return first;
end
$$;

-- A list of entries that count until they are a_terms[2] old: the charges of a sliding window, or leases, of
-- which the new one would be a_lease.
create or replace function sluice.step_list(a_terms bigint[], a_state bigint[], a_now bigint, a_cost bigint,
    a_lease bigint) returns sluice.limit_step
language plpgsql immutable parallel safe as $$
declare
    stride constant integer := case when a_lease is null then 2 else 3 end;
    size constant integer := coalesce(cardinality(a_state), 0);
    newest constant bigint := a_state[size - stride + 1];
    seen constant bigint := greatest(a_now, newest);
    first constant integer := sluice.first_counting(a_state, stride, a_terms[2], a_now);
    excess bigint; -- Tokens that have to leave before the check fits.
    used bigint := 0;
    at integer := first;
begin
    for i in first .. size by stride loop
        used := used + a_state[i + 1];
    end loop;
    excess := used + greatest(a_cost, 1) - a_terms[1];
    if excess > 0 then
        excess := excess - a_state[at + 1];
        while excess > 0 loop
            at := at + stride;
            excess := excess - a_state[at + 1];
        end loop;
        return row(false, greatest(0, a_terms[1] - used), a_state[at] + a_terms[2] - a_now,
            newest + a_terms[2] - a_now, null, null)::sluice.limit_step;
    end if;
    if a_cost = 0 then
        return row(true, a_terms[1] - used, 0,
            case when used = 0 then 0 else newest + a_terms[2] - a_now end, null, null)::sluice.limit_step;
    end if;
    return row(true, a_terms[1] - used - a_cost, 0, seen + a_terms[2] - a_now,
        sluice.append_to_list(a_state[first:size], seen, a_cost, a_lease),
        seen + a_terms[2])::sluice.limit_step;
end
$$;

-- Charges of one moment are one entry. An entry that holds nothing any more only told the time.
create or replace function sluice.append_to_list(a_list bigint[], a_at bigint, a_cost bigint, a_lease bigint)
returns bigint[] language plpgsql immutable parallel safe as $$
declare
    stride constant integer := case when a_lease is null then 2 else 3 end;
    size integer := cardinality(a_list);
    cost bigint := a_cost;
begin
    if size > 0 and (a_list[size - stride + 2] = 0 or (stride = 2 and a_list[size - 1] = a_at)) then
        cost := cost + a_list[size - stride + 2];
        size := size - stride;
    end if;
    return case when stride = 2 then a_list[1:size] || array[a_at, cost]
                else a_list[1:size] || array[a_at, cost, a_lease] end;
end
$$;

-- How far into a window the one before counts for at most a_spare tokens.
create or replace function sluice.fits_from(a_window bigint, a_previous bigint, a_spare bigint) returns bigint
language sql immutable parallel safe
return case when a_previous <= a_spare then 0 else a_window - a_spare * a_window / a_previous end;

-- The counters of an estimate as they are at a_now, cut to what the plan allows.
create or replace function sluice.roll_estimate(a_terms bigint[], a_state bigint[], a_now bigint) returns bigint[]
language plpgsql immutable parallel safe as $$
declare
    start constant bigint := a_now / a_terms[2] * a_terms[2];
    used constant bigint := greatest(0, least(a_state[2], a_terms[1]));
begin
    if a_state is null then
        return array[start, 0, 0];
    elsif start <= a_state[1] then
        return array[a_state[1], used, greatest(0, least(a_state[3], a_terms[1]))];
    end if;
    return array[start, 0, case when start - a_state[1] <= a_terms[2] then used else 0 end];
end
$$;

create or replace function sluice.step_estimate(a_terms bigint[], a_state bigint[], a_now bigint, a_cost bigint)
returns sluice.limit_step language plpgsql immutable parallel safe as $$
declare
    length constant bigint := a_terms[2];
    counters constant bigint[] := sluice.roll_estimate(a_terms, a_state, a_now);
    start constant bigint := counters[1];
    used bigint := counters[2];
    previous constant bigint := counters[3];
    covered constant bigint := previous * (length - greatest(0, a_now - start));
    room constant bigint := greatest(0, a_terms[1] - used - (covered + length - 1) / length);
    weight constant bigint := greatest(a_cost, 1);
    spare constant bigint := a_terms[1] - used - weight;
    passes bigint := length; -- After the start.
    idle_at bigint;
begin
    if weight > room then
        if spare >= 0 then
            passes := sluice.fits_from(length, previous, spare);
        end if;
        if passes >= length then -- Not in this window.
            passes := length + sluice.fits_from(length, used, a_terms[1] - weight);
        end if;
        idle_at := start + case when used > 0 then 2 else 1 end * length;
        return row(false, room, start + passes - a_now, idle_at - a_now, null, null)::sluice.limit_step;
    end if;
    used := used + a_cost;
    idle_at := start + case when used > 0 then 2 else 1 end * length;
    return row(true, room - a_cost, 0,
        case when used = 0 and previous = 0 then 0 else idle_at - a_now end,
        case when a_cost > 0 then array[start, used, previous] end,
        case when a_cost > 0 then idle_at end)::sluice.limit_step;
end
$$;

-- The state of a cooldown at a_at, which is not before the last event: an hour that has ended is closed.
create or replace function sluice.settle_cooldown(a_state bigint[], a_at bigint) returns bigint[]
language plpgsql immutable parallel safe as $$
declare
    never constant bigint := -9223372036854775808;
    hour_start constant bigint := least(a_state[2], a_at);
begin
    if a_state is null then
        return array[never, never, 0];
    elsif hour_start <> never and a_at - hour_start >= 3600000000 then
        return array[a_state[1], never, 0];
    end if;
    return array[a_state[1], hour_start, a_state[3]];
end
$$;

-- How long the pause, or an hour with a_events_max events, still blocks at a_at. Behind the one the other may.
create or replace function sluice.cooldown_block(a_pause bigint, a_events_max bigint, a_state bigint[], a_at bigint)
returns bigint language plpgsql immutable parallel safe as $$
declare
    settled constant bigint[] := sluice.settle_cooldown(a_state, a_at);
begin
    if settled[1] >= 0 and a_at - settled[1] < a_pause then
        return a_pause - (a_at - settled[1]);
    elsif settled[3] >= a_events_max then
        return 3600000000 - (a_at - settled[2]);
    end if;
    return 0;
end
$$;

create or replace function sluice.cooldown_idle_at(a_pause bigint, a_state bigint[]) returns bigint
language sql immutable parallel safe
return greatest(case when a_state[1] >= 0 then a_state[1] + a_pause else 0 end,
                case when a_state[3] > 0 then a_state[2] + 3600000000 else 0 end);

create or replace function sluice.step_cooldown(a_terms bigint[], a_state bigint[], a_now bigint, a_cost bigint)
returns sluice.limit_step language plpgsql immutable parallel safe as $$
declare
    seen constant bigint := greatest(a_now, a_state[1]);
    settled bigint[] := sluice.settle_cooldown(a_state, seen);
    room constant bigint := greatest(0, a_terms[1] - settled[3]);
    -- So many events fit exactly when one fits under this cap.
    events_max constant bigint := a_terms[1] - (greatest(a_cost, 1) - 1);
    passes bigint;
    idle_at bigint;
begin
    passes := seen + sluice.cooldown_block(a_terms[2], events_max, a_state, seen);
    passes := passes + sluice.cooldown_block(a_terms[2], events_max, a_state, passes);
    if passes > seen then
        return row(false, room, passes - a_now, sluice.cooldown_idle_at(a_terms[2], settled) - a_now,
            null, null)::sluice.limit_step;
    end if;
    if a_cost = 0 then
        return row(true, room, 0,
            greatest(0, sluice.cooldown_idle_at(a_terms[2], settled) - a_now), null, null)::sluice.limit_step;
    end if;
    settled := array[seen, case when settled[2] >= 0 then settled[2] else seen end, settled[3] + a_cost];
    idle_at := sluice.cooldown_idle_at(a_terms[2], settled);
    return row(true, room - a_cost, 0, greatest(0, idle_at - a_now), settled, idle_at)::sluice.limit_step;
end
$$;

-- a_lease: who would hold the places of a concurrency rule; not null for one.
create or replace function sluice.limit_step(a_algorithm integer, a_terms bigint[], a_state bigint[], a_now bigint,
    a_cost bigint, a_lease bigint) returns sluice.limit_step
language plpgsql immutable parallel safe as $$
begin
    case a_algorithm
        when 0 then return sluice.step_token_bucket(a_terms, a_state, a_now, a_cost);
        when 1 then return sluice.step_fixed_window(a_terms, a_state, a_now, a_cost);
        when 2 then return sluice.step_list(a_terms, a_state, a_now, a_cost, null);
        when 3 then return sluice.step_estimate(a_terms, a_state, a_now, a_cost);
        when 4 then return sluice.step_cooldown(a_terms, a_state, a_now, a_cost);
        when 5 then return sluice.step_list(a_terms, a_state, a_now, a_cost, a_lease);
    end case;
end
$$;

-- A list without so many tokens, the oldest first that still count. The newest entry stays, even with
-- nothing: it tells how far time had come.
create or replace function sluice.refund_list(a_list bigint[], a_stride integer, a_first integer, a_cost bigint)
returns bigint[] language plpgsql immutable parallel safe as $$
declare
    size constant integer := coalesce(cardinality(a_list), 0);
    owed bigint := a_cost;
    back bigint;
    kept bigint[] := '{}';
begin
    for i in 1 .. size by a_stride loop
        back := case when i >= a_first then least(owed, a_list[i + 1]) else 0 end;
        owed := owed - back;
        if a_list[i + 1] > back or i > size - a_stride then
            kept := kept || a_list[i] || a_list[i + 1] - back || a_list[i + 2 : i + a_stride - 1];
        end if;
    end loop;
    return kept;
end
$$;

create or replace function sluice.limit_refund(a_algorithm integer, a_terms bigint[], a_state bigint[], a_now bigint,
    a_cost bigint, out state bigint[], out idle_at bigint)
language plpgsql immutable parallel safe as $$
declare
    stride integer;
begin
    if a_algorithm = 0 then
        state := sluice.refill_token_bucket(a_terms, a_state, a_now);
        state[1] := least(a_terms[1] * a_terms[2], state[1] + a_cost * a_terms[2]);
        idle_at := state[2] + (a_terms[1] * a_terms[2] - state[1] + a_terms[3] - 1) / a_terms[3];
    elsif a_algorithm = 1 then
        state := a_state;
        if sluice.window_end(a_terms[2], a_terms[3], state[2]) <= a_now or (state[1] = 0 and a_terms[2] = 1) then
            state := array[0, sluice.window_start(a_terms[2], a_terms[3], a_now)];
        end if;
        state[1] := greatest(0, state[1] - a_cost);
        idle_at := case when state[1] = 0 and a_terms[2] = 1 then 0
                        else sluice.window_end(a_terms[2], a_terms[3], state[2]) end;
    elsif a_algorithm in (2, 5) then
        stride := case a_algorithm when 2 then 2 else 3 end;
        state := sluice.refund_list(a_state, stride,
            sluice.first_counting(a_state, stride, a_terms[2], a_now), a_cost);
        idle_at := state[cardinality(state) - stride + 1] + a_terms[2];
    elsif a_algorithm = 3 then
        state := sluice.roll_estimate(a_terms, a_state, a_now);
        state[2] := greatest(0, state[2] - a_cost);
        idle_at := state[1] + case when state[2] > 0 then 2 else 1 end * a_terms[2];
    else
        state := sluice.settle_cooldown(a_state, greatest(a_now, a_state[1]));
        state[3] := greatest(0, state[3] - a_cost);
        if state[3] = 0 then
            state[2] := -9223372036854775808;
        end if;
        idle_at := sluice.cooldown_idle_at(a_terms[2], state);
    end if;
end
$$;
