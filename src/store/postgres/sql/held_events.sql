-- Which of these events a transaction of somebody else is at: it stores or removes them, and has not ended. Waits
-- a_wait for each of those. What others have not committed can be seen in no other way than by storing the same:
-- each event is stored for a moment, which is undone before the next one's turn. So nothing is held while one is
-- waited for, and the caller should hold nothing either.
create or replace function sluice.held_events(a_events text[], a_wait text) returns setof text
language plpgsql volatile as $$
declare
    event text;
begin
    perform set_config('lock_timeout', a_wait, true);
    foreach event in array a_events loop
        begin
            insert into @tables@.rl_event_slot_dtl (wndw_slot_id, event_id, req_ts, wndw_strt_ts, computed_sched_ts,
                rl_wndw_config_id, pool_nm)
            values ('', event, 'epoch', 'epoch', 'epoch', '', '')
            on conflict on constraint rl_event_slot_dtl_iux do nothing;
            raise exception using errcode = 'SLFRE'; -- Nobody is at it.
        exception
            when sqlstate 'SLFRE' then null;
            when lock_not_available or deadlock_detected then return next event;
        end;
    end loop;
end
$$;
