-- The store of limits: what is remembered of each key under each plan, and the functions that decide.
--
-- Locks: rows of sluice.limit_state, in byte order of key and plan. Whatever is missing is inserted before
-- the first of them is locked. So two calls never wait for each other, whatever their keys.

-- A number for a lease that nobody else gives, also not after this database was dropped, restored or failed
-- over: random, of 52 bits.
create or replace function sluice.new_lease() returns bigint
language sql volatile
return ('x' || left(gen_random_uuid()::text, 8) || right(gen_random_uuid()::text, 5))::bit(52)::bigint | 1;
drop sequence if exists sluice.lease_number; -- Where they came from before.

-- The clock that decides, of slots too: the server's, never a node's.
create or replace function sluice.limit_clock() returns bigint
language sql volatile
return (extract(epoch from clock_timestamp()) * 1000000)::bigint;

-- Makes the rows that are missing and locks those that are to be charged, in the order given, which is the
-- byte order. What is only peeked at is read. Null: there is no such row, or another transaction holds it.
-- Patient: waits for others as long as lock_timeout allows, and fails then. Otherwise waits for nobody.
create or replace function sluice.lock_limits(a_keys bytea[], a_plans text[], a_charged boolean[], a_patient boolean)
returns sluice.limit_state[] language plpgsql as $$
declare
    found_rows sluice.limit_state[] := array_fill(null::sluice.limit_state, array[cardinality(a_keys)]);
    wanted record;
    complete boolean := false;
begin
    for attempt in 1 .. 3 loop
        exit when complete;
        complete := true;
        if a_patient then
            insert into sluice.limit_state (limit_key, plan_nm)
            select w.limit_key, w.plan_nm
            from unnest(a_keys, a_plans, a_charged) with ordinality as w (limit_key, plan_nm, charged, no)
            where w.charged order by w.no
            on conflict do nothing;
            for wanted in
                select w.no, s as found
                from unnest(a_keys, a_plans, a_charged) with ordinality as w (limit_key, plan_nm, charged, no)
                join sluice.limit_state s on s.limit_key = w.limit_key and s.plan_nm = w.plan_nm
                where w.charged order by w.no
                for update of s
            loop
                found_rows[wanted.no] := wanted.found;
            end loop;
        else
            perform sluice.insert_free_limits(a_keys, a_plans, a_charged);
            for wanted in
                select w.no, s as found
                from unnest(a_keys, a_plans, a_charged) with ordinality as w (limit_key, plan_nm, charged, no)
                join sluice.limit_state s on s.limit_key = w.limit_key and s.plan_nm = w.plan_nm
                where w.charged order by w.no
                for update of s skip locked
            loop
                found_rows[wanted.no] := wanted.found;
            end loop;
        end if;
        -- A row may have been removed as idle just before it was locked.
        for i in 1 .. cardinality(a_keys) loop
            complete := complete and (not a_charged[i] or not a_patient or found_rows[i].limit_key is not null);
        end loop;
    end loop;
    if not complete then
        raise exception using errcode = 'SL409', message = 'A key was removed again and again.';
    end if;
    if false = any (a_charged) then
        for wanted in
            select w.no, s as found
            from unnest(a_keys, a_plans, a_charged) with ordinality as w (limit_key, plan_nm, charged, no)
            join sluice.limit_state s on s.limit_key = w.limit_key and s.plan_nm = w.plan_nm
            where not w.charged
        loop
            found_rows[wanted.no] := wanted.found;
        end loop;
    end if;
    return found_rows;
end
$$;

-- Inserts what is missing, but for keys that another transaction has inserted and not yet committed: PostgreSQL
-- can only wait for those, hence the shortest wait there is, and a subtransaction for each.
create or replace function sluice.insert_free_limits(a_keys bytea[], a_plans text[], a_charged boolean[]) returns void
language plpgsql set lock_timeout = '1ms' as $$
begin
    for i in 1 .. cardinality(a_keys) loop
        continue when not a_charged[i];
        begin
            insert into sluice.limit_state (limit_key, plan_nm) values (a_keys[i], a_plans[i])
            on conflict do nothing;
        exception when lock_not_available then
            null; -- Held.
        end;
    end loop;
end
$$;

-- What is remembered under an algorithm. Each keeps its own, so nodes that disagree on a plan's algorithm do
-- not wipe what the other counted.
create or replace function sluice.limit_state_of(a_held sluice.limit_state, a_algorithm integer) returns bigint[]
language plpgsql immutable parallel safe as $$
begin
    if a_held.algorithm_no = a_algorithm or a_held.shelf is null then
        return case when a_held.algorithm_no = a_algorithm then a_held.state end;
    end if;
    return (select s.state from unnest(a_held.shelf) as s where s.algorithm_no = a_algorithm);
end
$$;

-- The row with another state of an algorithm. It lasts as long as the last of what it holds.
create or replace function sluice.limit_state_with(a_held sluice.limit_state, a_algorithm integer, a_state bigint[],
    a_idle_at bigint) returns sluice.limit_state
language plpgsql immutable parallel safe as $$
declare
    held sluice.limit_state := a_held;
begin
    if held.algorithm_no <> a_algorithm then
        held.shelf := array(select s from unnest(held.shelf) as s
                            where s.algorithm_no not in (held.algorithm_no, a_algorithm))
            || row(held.algorithm_no, held.state, held.idle_at)::sluice.limit_shelf;
    end if;
    held.algorithm_no := a_algorithm;
    held.state := a_state;
    held.idle_at := a_idle_at;
    if held.shelf is not null then
        held.idle_at := greatest(a_idle_at, (select max(s.idle_at) from unnest(held.shelf) as s));
    end if;
    return held;
end
$$;

-- What decides for a key now: the rule of its override or else the plan's own, and what is remembered under
-- it. Of an override also when it ends, and what decides from then on.
create or replace function sluice.limit_footing(a_held sluice.limit_state, a_algorithm integer, a_terms bigint[],
    a_moment bigint) returns sluice.limit_footing
language plpgsql immutable parallel safe as $$
begin
    if a_held.override_until > a_moment then
        return row(true, a_held.override_no, a_held.override_terms, a_held.override_state,
            a_held.override_until, a_algorithm, a_terms,
            sluice.limit_state_of(a_held, a_algorithm))::sluice.limit_footing;
    end if;
    return row(false, a_algorithm, a_terms, sluice.limit_state_of(a_held, a_algorithm),
        null, null, null, null)::sluice.limit_footing;
end
$$;

-- The first moment from a_at on at which a check passes under one rule, if nothing is charged until then. What
-- costs more than the rule could ever allow does not wait: it is told so.
create or replace function sluice.limit_passes_under(a_algorithm integer, a_terms bigint[], a_state bigint[], a_at bigint,
    a_cost bigint) returns bigint
language plpgsql immutable parallel safe as $$
declare
    step sluice.limit_step;
begin
    if a_cost > a_terms[1] then
        return a_at;
    end if;
    step := sluice.limit_step(a_algorithm, a_terms, a_state, a_at, a_cost, 0);
    return a_at + case when step.allowed then 0 else step.retry_after end;
end
$$;

-- The same where an override ends.
create or replace function sluice.limit_first_pass(a_footing sluice.limit_footing, a_at bigint, a_cost bigint)
returns bigint language plpgsql immutable parallel safe as $$
declare
    at bigint := a_at;
    passes bigint;
begin
    if at < a_footing.ends then
        passes := sluice.limit_passes_under(a_footing.algorithm, a_footing.terms, a_footing.state, at, a_cost);
        if passes < a_footing.ends then
            return passes;
        end if;
        at := a_footing.ends;
    end if;
    return sluice.limit_passes_under(a_footing.own_algorithm, a_footing.own_terms, a_footing.own_state, at,
        a_cost);
end
$$;

-- The first moment from a_at on at which none of the links keeps a denied check waiting: one that passes now
-- may not any more when its override ends.
create or replace function sluice.limits_pass_together(a_links sluice.limit_link[], a_at bigint) returns bigint
language plpgsql immutable parallel safe as $$
declare
    at bigint := a_at;
    passes bigint;
    moved boolean := true;
    link sluice.limit_link;
begin
    while moved loop
        moved := false;
        foreach link in array a_links loop
            continue when link.shadow or not (link.footing).overridden;
            passes := sluice.limit_first_pass(link.footing, at, link.cost);
            moved := moved or passes > at;
            at := greatest(at, passes);
        end loop;
    end loop;
    return at;
end
$$;

-- Combines what the plans of a check said. Denied if one denies that is not in shadow mode; of several, the one
-- that keeps the check waiting longest speaks. Otherwise the plan with the fewest tokens left does, the first
-- of equals.
create or replace function sluice.judge_limits(a_links sluice.limit_link[]) returns sluice.limit_verdict
language plpgsql immutable parallel safe as $$
declare
    verdict sluice.limit_verdict;
    link sluice.limit_link;
    step sluice.limit_step;
    said sluice.limit_step; -- By the plan that speaks so far.
    rank integer;           -- Why a plan speaks: 1 it has the fewest left, 2 it denies in shadow mode, 3 it denies.
    rank_said integer := 0;
begin
    for i in 1 .. cardinality(a_links) loop
        link := a_links[i];
        step := link.step;
        rank := case when step.allowed then 1 when link.shadow then 2 else 3 end;
        if rank > rank_said or (rank = rank_said and case when rank = 1 then step.remaining < said.remaining
                                                          else step.retry_after > said.retry_after end) then
            said := step;
            rank_said := rank;
            verdict.plan_no := i - 1;
            verdict.limit_ct := (link.footing).terms[1];
        end if;
    end loop;
    verdict.allowed := rank_said < 3;
    verdict.shadowed := rank_said = 2;
    verdict.remaining := said.remaining;
    verdict.retry_after := said.retry_after;
    verdict.reset_after := said.reset_after;
    verdict.lease := 0;
    return verdict;
end
$$;

-- Decides checks as if one by one. a_keys, a_plans and a_charged name the rows, each once and in byte order;
-- the other arrays have an element for each plan of each check: which check, which row, the plan's rule
-- and what the check costs. All plans of a check are charged, or none.
--
-- Rows are found by their key, whatever the planner knows of a table that may have been empty a moment ago; and
-- nothing here is worth compiling.
create or replace function sluice.take_limits(a_keys bytea[], a_plans text[], a_charged boolean[], a_checks integer[],
    a_rows integer[], a_algorithms integer[], a_terms_1 bigint[], a_terms_2 bigint[], a_terms_3 bigint[],
    a_costs bigint[], a_shadows boolean[], a_patient boolean)
returns setof sluice.limit_verdict language plpgsql
set search_path = pg_catalog, pg_temp set enable_hashjoin = off set enable_mergejoin = off
set enable_seqscan = off set jit = off as $$
declare
    rows_held sluice.limit_state[] := sluice.lock_limits(a_keys, a_plans, a_charged, a_patient);
    moment constant bigint := sluice.limit_clock(); -- Read once all is locked.
    changed boolean[] := array_fill(false, array[cardinality(a_keys)]);
    links sluice.limit_link[] := '{}'; -- Of the check so far.
    link sluice.limit_link;
    step sluice.limit_step;
    held sluice.limit_state;
    verdict sluice.limit_verdict;
    fault text;
    lease bigint;
    overridden boolean := false; -- One of the links of the check.
    first integer := 1;
begin
    for i in 1 .. cardinality(a_checks) loop
        held := rows_held[a_rows[i]];
        link.footing := sluice.limit_footing(held, a_algorithms[i],
            array[a_terms_1[i], a_terms_2[i], a_terms_3[i]], moment);
        link.shadow := a_shadows[i];
        link.cost := a_costs[i];
        if a_charged[a_rows[i]] and held.limit_key is null then
            if link.shadow then -- It denies nobody, and is not charged.
                link.step := row(false, 0, 1, 1, null, null)::sluice.limit_step;
            else
                fault := 'contended';
            end if;
        elsif a_costs[i] > (link.footing).terms[1] then
            fault := coalesce(fault, 'cost');
        else
            if (link.footing).algorithm = 5 and a_costs[i] > 0 and lease is null then
                lease := sluice.new_lease();
            end if;
            step := sluice.limit_step((link.footing).algorithm, (link.footing).terms,
                (link.footing).state, moment, a_costs[i], coalesce(lease, 0));
            if (link.footing).overridden then
                overridden := true;
                if not step.allowed then
                    step.retry_after := sluice.limit_first_pass(link.footing, moment, a_costs[i]) - moment;
                end if;
            end if;
            link.step := step;
        end if;
        links := links || link;
        continue when a_checks[i + 1] = a_checks[i];

        verdict := null;
        if fault is null then
            verdict := sluice.judge_limits(links);
            if overridden and not verdict.allowed then
                verdict.retry_after :=
                    sluice.limits_pass_together(links, moment + verdict.retry_after) - moment;
            end if;
        end if;
        verdict.fault := fault;
        for at in first .. i loop
            exit when not coalesce(verdict.allowed, false);
            link := links[at - first + 1];
            continue when (link.step).state is null;
            held := rows_held[a_rows[at]];
            if (link.footing).overridden then
                held.override_state := (link.step).state;
            elsif held.algorithm_no = (link.footing).algorithm and held.shelf is null then
                held.state := (link.step).state;
                held.idle_at := (link.step).idle_at;
            else
                held := sluice.limit_state_with(held, (link.footing).algorithm, (link.step).state,
                    (link.step).idle_at);
            end if;
            if (link.footing).algorithm = 5 then
                verdict.lease := lease;
            end if;
            rows_held[a_rows[at]] := held;
            changed[a_rows[at]] := true;
        end loop;
        return next verdict;
        links := '{}';
        fault := null;
        lease := null;
        overridden := false;
        first := i + 1;
    end loop;
    if true = any (changed) then
        update sluice.limit_state s
        set algorithm_no = n.algorithm_no, state = n.state, shelf = n.shelf, override_state = n.override_state,
            idle_at = n.idle_at
        from unnest(rows_held) with ordinality as n
        where changed[n.ordinality] and s.limit_key = n.limit_key and s.plan_nm = n.plan_nm;
    end if;
end
$$;
