-- The work that slots bring along. Its states and lanes are those of src/core/dispatch/work.hpp, its steps those of
-- src/app/dispatch/work_steps.hpp. Whoever changes it has its slot's row locked, and then locks its own.

-- Tells all nodes, when the transaction commits, that something is due by then in lane Due: once in a transaction,
-- unless something comes that is due earlier.
create or replace function sluice.tell_due(a_due timestamptz) returns void
language plpgsql volatile as $$
declare
    told constant bigint := nullif(current_setting('sluice.told_due', true), '')::bigint;
    due_ms constant bigint := sluice.to_ms(a_due);
begin
    if coalesce(due_ms < told, due_ms is not null) then
        perform pg_notify('sluice', 'work ' || due_ms || ' ' || sluice.node());
        perform set_config('sluice.told_due', due_ms::text, true);
    end if;
end
$$;

-- Stores the works of events whose slots this transaction has stored. An event for which another was faster has its
-- work already, or its slot says that it brought none.
create or replace function sluice.add_works(a_works sluice.brought_work[]) returns void
language plpgsql volatile as $$
declare
    earliest timestamptz;
begin
    with work as (
        insert into sluice.work as w (event_id, wndw_config_nm, pool_nm, host_nm, endpoint_nm, target_cd, sched_ts,
            weight_ct, expires_ts, due_ts)
        select d.event_id, c.wndw_config_nm, d.pool_nm, b.host_nm, b.endpoint_nm, b.target_cd, d.computed_sched_ts,
               d.weight_ct, sluice.from_ms(sluice.to_ms(d.computed_sched_ts)
                                           + coalesce(b.expires_after_ms, c.expires_after_ms)),
               d.computed_sched_ts
        from unnest(a_works) as b
        join @tables@.rl_event_slot_dtl d on d.event_id = b.event_id and d.work_in
        join @tables@.rl_event_wndw_config c on c.rl_wndw_config_id = d.rl_wndw_config_id
        on conflict (event_id) do nothing
        returning w.event_id, w.due_ts
    ), work_order as (
        insert into sluice.work_order (event_id, target_cd, address_tx, host_nm, endpoint_nm, payload,
            expires_after_ms, traceparent_tx)
        select b.event_id, b.target_cd, b.address_tx, b.host_nm, b.endpoint_nm, b.payload, b.expires_after_ms,
               b.traceparent_tx
        from unnest(a_works) as b join work on work.event_id = b.event_id
    )
    select min(work.due_ts) into earliest from work;
    perform sluice.tell_due(earliest);
end
$$;

-- Locks the work of an event whose slot is locked. SLSNT: it is on its way, or has arrived; or, where it must be
-- untouched, was ever tried.
create or replace function sluice.lock_work(a_event text, a_untouched boolean) returns sluice.work
language plpgsql volatile as $$
declare
    work sluice.work;
begin
    select w.* into strict work from sluice.work w where w.event_id = a_event for update;
    if work.state_cd in (2, 3) or a_untouched and (work.state_cd not in (1, 6) or work.attempt_ct > 0) then
        raise exception using errcode = 'SLSNT',
            message = format('The work of event %L is on its way, or has arrived.', a_event);
    end if;
    return work;
end
$$;

-- What somebody did to a work, for its audit.
create or replace function sluice.note_deed(a_work sluice.work, a_action smallint, a_now timestamptz, a_by text)
returns void language sql volatile as $$
    insert into sluice.dispatch_audit (event_id, line_no, action_cd, at_ts, by_tx)
    values (a_work.event_id, a_work.line_ct, a_action, a_now, a_by)
$$;

-- SLSNT: see lock_work().
create or replace function sluice.withdraw_work(a_event text, a_by text) returns void
language plpgsql volatile as $$
declare
    work constant sluice.work := sluice.lock_work(a_event, false);
    now_ts constant timestamptz := sluice.from_ms(sluice.limit_clock() / 1000);
begin
    perform sluice.note_deed(work, 5::smallint, now_ts, a_by);
    update sluice.work w
    set state_cd = 8, lane_cd = 0, lane_nm = '', due_ts = now_ts, line_ct = w.line_ct + 1
    where w.event_id = a_event;
end
$$;

-- Takes a work that is locked, and was never tried, to where its slot is now.
create or replace function sluice.move_work(a_work sluice.work, a_slot @tables@.rl_event_slot_dtl, a_by text)
returns void language plpgsql volatile as $$
begin
    perform sluice.note_deed(a_work, 6::smallint, sluice.from_ms(sluice.limit_clock() / 1000), a_by);
    update sluice.work w
    set pool_nm = a_slot.pool_nm, sched_ts = a_slot.computed_sched_ts,
        expires_ts = w.expires_ts + (a_slot.computed_sched_ts - w.sched_ts), state_cd = 1, lane_cd = 1,
        lane_nm = '', due_ts = a_slot.computed_sched_ts, line_ct = w.line_ct + 1
    where w.event_id = a_slot.event_id;
    perform sluice.tell_due(a_slot.computed_sched_ts);
end
$$;

-- What is wrong with the address of a target, as far as it can be told here; null when nothing is. The node that
-- takes the work reads it by all of its rules.
create or replace function sluice.wrong_address(a_kind text, a_address text) returns text
language sql immutable
return case
    when a_kind = 'webhook' then case
        when octet_length(a_address) > 2048 then 'The URL is longer than 2048 bytes.'
        when a_address collate "C" !~* '^https?://' then 'The URL begins neither with http:// nor with https://.'
        when a_address collate "C" ~ '^[^:]*://[^/?#]*@'
            then 'The URL has credentials; headers of an endpoint can come from files.'
        when a_address collate "C" ~ '#' then 'The URL has a fragment, which is never sent.'
        when a_address collate "C" !~ '^[^:]*://[^/?]' then 'The URL has no host.'
        when a_address collate "C" ~ '[^!-~]' then 'The URL holds characters that must be written as %XX.'
    end
    when a_kind = 'kafka' and (a_address collate "C" !~ '^[A-Za-z0-9._-]{1,249}$' or a_address in ('.', '..'))
        then 'A topic has 1 to 249 of A-Z a-z 0-9 . _ -, and is not . or ..'
end;

-- What is wrong with a target and a payload; null when nothing is.
create or replace function sluice.wrong_work(a_target jsonb, a_payload jsonb) returns text
language plpgsql immutable as $$
declare
    kind constant text := a_target ->> 'type';
    address_field constant text := case kind when 'webhook' then 'url' when 'kafka' then 'topic' end;
    stray constant text := (select min(f) from jsonb_object_keys(case jsonb_typeof(a_target)
                                when 'object' then a_target else '{}' end) as f
                            where f is distinct from 'type' and f is distinct from address_field);
begin
    return case
        when a_target is null then 'payload says nothing without a target.'
        when jsonb_typeof(a_target) <> 'object' then 'target must be an object like {"type": "log"}.'
        when kind = 'temporal' then 'Targets of type temporal are not supported by this version.'
        when jsonb_typeof(a_target -> 'type') is distinct from 'string' or kind not in ('webhook', 'kafka', 'log')
            then 'The type of a target is webhook, kafka or log.'
        when stray is not null then format('%s is not a field of a target of type %s.', stray, kind)
        when address_field is not null and jsonb_typeof(a_target -> address_field) is distinct from 'string'
            then format('A target of type %s has a %s, which is text.', kind, address_field)
        when octet_length(convert_to(a_payload::text, 'UTF8')) > 16384
            then format('payload has %s bytes as text; it may have 16384.',
                        octet_length(convert_to(a_payload::text, 'UTF8')))
        else sluice.wrong_address(kind, a_target ->> address_field)
    end;
end
$$;

-- What an application hands over. Where it goes is read by whoever takes it first. SL400: something is wrong.
create or replace function sluice.bring_work(a_event text, a_target jsonb, a_payload jsonb)
returns sluice.brought_work language plpgsql as $$
declare
    wrong constant text := sluice.wrong_work(a_target, a_payload);
begin
    if wrong is not null then
        raise exception using errcode = 'SL400', message = wrong;
    end if;
    return row(a_event, case a_target ->> 'type' when 'log' then 1 when 'webhook' then 2 else 3 end::smallint,
               coalesce(a_target ->> 'url', a_target ->> 'topic', ''), null, null,
               coalesce(convert_to(a_payload::text, 'UTF8'), ''), null, '')::sluice.brought_work;
end
$$;
