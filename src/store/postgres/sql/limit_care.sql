-- What else is done with limits: giving back, forgetting, overriding, looking, cleaning up; the plans that
-- SQL knows, and sluice.allow for applications.

-- Writes what a row holds, but for its override's terms. REQUIRES: its lock.
create or replace function sluice.keep_limit(a_held sluice.limit_state) returns void
language sql set search_path = pg_catalog, pg_temp as $$
    update sluice.limit_state s
    set algorithm_no = (a_held).algorithm_no, state = (a_held).state, shelf = (a_held).shelf,
        override_state = (a_held).override_state, idle_at = (a_held).idle_at
    where s.limit_key = (a_held).limit_key and s.plan_nm = (a_held).plan_nm
$$;

-- Gives back what a check took. The plans stand in byte order. 'cost': it is above what one of them allows,
-- and nothing was given back.
create or replace function sluice.refund_limits(a_key bytea, a_plans text[], a_algorithms integer[],
    a_terms_1 bigint[], a_terms_2 bigint[], a_terms_3 bigint[], a_cost bigint) returns text
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
    held sluice.limit_state;
    footing sluice.limit_footing;
    moment bigint;
    given record;
begin
    perform from sluice.limit_state s
    where s.limit_key = a_key and s.plan_nm = any (a_plans) order by s.plan_nm for update;
    moment := sluice.limit_clock();
    for turn in 1 .. 2 loop -- Looked at first, so that all is given back or nothing.
        for i in 1 .. cardinality(a_plans) loop
            select s.* into held from sluice.limit_state s where s.limit_key = a_key and s.plan_nm = a_plans[i];
            footing := sluice.limit_footing(held, a_algorithms[i],
                array[a_terms_1[i], a_terms_2[i], a_terms_3[i]], moment);
            if a_cost > footing.terms[1] then
                return 'cost';
            end if;
            continue when turn = 1 or footing.state is null;
            given := sluice.limit_refund(footing.algorithm, footing.terms, footing.state, moment, a_cost);
            if footing.overridden then
                held.override_state := given.state;
            else
                held := sluice.limit_state_with(held, footing.algorithm, given.state, given.idle_at);
            end if;
            perform sluice.keep_limit(held);
        end loop;
    end loop;
    return null;
end
$$;

-- Gives a lease back. False: it was not held any more.
create or replace function sluice.release_limit(a_key bytea, a_plan text, a_algorithm integer, a_terms bigint[],
    a_lease bigint) returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
    held sluice.limit_state;
    footing sluice.limit_footing;
    moment bigint;
    list bigint[];
begin
    select s.* into held from sluice.limit_state s where s.limit_key = a_key and s.plan_nm = a_plan for update;
    moment := sluice.limit_clock();
    footing := sluice.limit_footing(held, a_algorithm, a_terms, moment);
    if footing.state is null or footing.algorithm <> 5 then
        return false;
    end if;
    list := footing.state;
    for i in sluice.first_counting(list, 3, footing.terms[2], moment) .. cardinality(list) by 3 loop
        continue when list[i + 2] <> a_lease or list[i + 1] = 0;
        list[i + 1] := 0;
        list := sluice.refund_list(list, 3, 1, 0);
        if footing.overridden then
            held.override_state := list;
        else
            held := sluice.limit_state_with(held, 5, list,
                list[cardinality(list) - 2] + footing.terms[2]);
        end if;
        perform sluice.keep_limit(held);
        return true;
    end loop;
    return false;
end
$$;

-- Forgets what the plans hold against the key, under an override too; the override stays.
create or replace function sluice.reset_limits(a_key bytea, a_plans text[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
    perform from sluice.limit_state s
    where s.limit_key = a_key and s.plan_nm = any (a_plans) order by s.plan_nm for update;
    update sluice.limit_state s
    set algorithm_no = null, state = null, shelf = null, override_state = null, idle_at = coalesce(s.override_until, 0)
    where s.limit_key = a_key and s.plan_nm = any (a_plans);
end
$$;

-- How the key stands with each of the plans, as a peek sees it; in their order.
create or replace function sluice.inspect_limits(a_key bytea, a_plans text[], a_algorithms integer[],
    a_terms_1 bigint[], a_terms_2 bigint[], a_terms_3 bigint[])
returns table (allowed boolean, limit_ct bigint, remaining bigint, retry_after bigint, reset_after bigint)
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
    moment constant bigint := sluice.limit_clock();
    held sluice.limit_state;
    footing sluice.limit_footing;
begin
    for i in 1 .. cardinality(a_plans) loop
        select s.* into held from sluice.limit_state s where s.limit_key = a_key and s.plan_nm = a_plans[i];
        footing := sluice.limit_footing(held, a_algorithms[i],
            array[a_terms_1[i], a_terms_2[i], a_terms_3[i]], moment);
        return query select step.allowed, footing.terms[1], step.remaining,
                case when footing.overridden and not step.allowed
                     then sluice.limit_first_pass(footing, moment, 0) - moment else step.retry_after end,
                step.reset_after
            from sluice.limit_step(footing.algorithm, footing.terms, footing.state, moment, 0, 0) as step;
    end loop;
end
$$;

-- Another rule for one key, until a moment or for so many microseconds from now on; says when it ends. It begins
-- fresh. One that has expired already removes the override.
create or replace function sluice.override_limit(a_key bytea, a_plan text, a_algorithm integer, a_terms bigint[],
    a_until bigint, a_ttl bigint) returns bigint
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
    moment constant bigint := sluice.limit_clock();
    ends constant bigint := coalesce(a_until, least(moment + a_ttl, (1::bigint << 52) - 1));
begin
    if ends <= moment then
        update sluice.limit_state s
        set override_no = null, override_terms = null, override_until = null, override_state = null
        where s.limit_key = a_key and s.plan_nm = a_plan;
        return ends;
    end if;
    insert into sluice.limit_state as s (limit_key, plan_nm, override_no, override_terms, override_until,
        idle_at)
    values (a_key, a_plan, a_algorithm, a_terms, ends, ends)
    on conflict (limit_key, plan_nm) do update
    set override_no = excluded.override_no, override_terms = excluded.override_terms,
        override_until = excluded.override_until, override_state = null,
        idle_at = greatest(s.idle_at, excluded.idle_at);
    return ends;
end
$$;

-- Removes the rows of some pages of the table that have been as good as none for a_grace microseconds, and
-- that nobody holds. next_page is null at the end of the table. Pages rather than an index on idle_at: every
-- charge would have to change that.
create or replace function sluice.sweep_limits(a_page bigint, a_pages integer, a_grace bigint, out removed bigint,
    out next_page bigint)
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
    pages constant bigint :=
        pg_relation_size('sluice.limit_state') / current_setting('block_size')::bigint;
begin
    delete from sluice.limit_state s
    where s.ctid = any (array(
        select i.ctid from sluice.limit_state i
        where i.ctid >= format('(%s,0)', a_page)::tid and i.ctid < format('(%s,0)', a_page + a_pages)::tid
          and i.idle_at <= sluice.limit_clock() - a_grace
        for update skip locked));
    get diagnostics removed = row_count;
    next_page := case when a_page + a_pages < pages then a_page + a_pages end;
end
$$;

-- Makes these the plans that sluice.allow knows.
create or replace function sluice.put_plans(a_names text[], a_algorithms text[], a_algorithm_nos integer[],
    a_terms_1 bigint[], a_terms_2 bigint[], a_terms_3 bigint[], a_shadows boolean[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
    lock table sluice.plan in share row exclusive mode; -- One node after the other; reading goes on.
    delete from sluice.plan p where p.name <> all (a_names);
    insert into sluice.plan as p (name, algorithm, algorithm_no, terms, shadow)
    select g.name, g.algorithm, g.algorithm_no, array[g.terms_1, g.terms_2, g.terms_3], g.shadow
    from unnest(a_names, a_algorithms, a_algorithm_nos, a_terms_1, a_terms_2, a_terms_3, a_shadows)
        as g (name, algorithm, algorithm_no, terms_1, terms_2, terms_3, shadow)
    on conflict (name) do update
    set algorithm = excluded.algorithm, algorithm_no = excluded.algorithm_no, terms = excluded.terms,
        shadow = excluded.shadow, loaded_at = excluded.loaded_at;
end
$$;

-- Whether the key may have so many tokens of the plan, now. Charged if the caller's transaction commits; until
-- then others wait for the key, or find it contended.
create or replace function sluice.allow(key text, out allowed boolean, inout plan text, cost integer default 1,
    out remaining bigint, out retry_after interval)
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '2s' as $$
declare
    known sluice.plan;
    verdict sluice.limit_verdict;
    is_old constant boolean := sluice.has_one_snapshot(); -- What is read may be; what is locked fails then.
    wrong constant text := case
        when key is null or octet_length(convert_to(key, 'UTF8')) not between 1 and 256
            then 'key must have 1 to 256 bytes.'
        when plan is null then 'plan must not be null.'
        when cost is null or cost < 0 then 'cost must not be negative.'
    end;
begin
    if wrong is not null then
        raise exception using errcode = 'SL400', message = wrong;
    end if;
    select p.* into known from sluice.plan p where p.name = allow.plan;
    if not found then
        raise exception using errcode = 'SL404', message = format('There is no plan named %L.', plan);
    end if;
    if is_old then -- Is that the plan still?
        perform 1 from sluice.plan p where p.name = allow.plan for share;
    end if;
    select v.* into verdict
    from sluice.take_limits(array[convert_to(key, 'UTF8')], array[plan], array[cost > 0 or is_old], array[1], array[1],
        array[known.algorithm_no::integer], known.terms[1:1], known.terms[2:2], known.terms[3:3],
        array[cost::bigint], array[known.shadow], true) as v;
    if verdict.fault is not null then
        raise exception using errcode = 'SL400', message = 'cost is more than the plan could ever allow.';
    end if;
    allowed := verdict.allowed;
    remaining := verdict.remaining;
    retry_after := verdict.retry_after * interval '1 microsecond';
exception when lock_not_available or deadlock_detected then
    raise exception using errcode = 'SL409', message = 'Another transaction holds this key.';
end
$$;
