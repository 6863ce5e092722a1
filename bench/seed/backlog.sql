-- The peer behind 10,000 full windows at the requested time: the first one, and 9,999 in a hundred chunks. Each
-- was counted up as its events came, one in a transaction: what that leaves behind in the table and its indexes
-- is part of a backlog. Vacuum has been there since.
insert into rl_wndw_frontier_trk (req_ts, wndw_end_ts)
select requested, requested + chunk * interval '400 seconds'
from (values (timestamptz '2035-01-01 00:00:00+00')) as asked (requested), generate_series(1, 100) as chunk;

insert into rl_event_slot_dtl (wndw_slot_id, event_id, req_ts, wndw_strt_ts, computed_sched_ts,
                               rl_wndw_config_id)
select gen_random_uuid()::text, gen_random_uuid()::text, timestamptz '2035-01-01 00:00:00+00', opens,
       opens + random() * interval '4 seconds', 'seed-1'
from (select timestamptz '2035-01-01 00:00:00+00' + number / 100 * interval '4 seconds' as opens
      from generate_series(0, 999999) as number) as slots;

set synchronous_commit = off;
do $$
declare
    opens timestamptz := '2035-01-01 00:00:00+00';
begin
    for number in 0 .. 9999 loop
        if number % 100 = 0 then
            insert into rl_wndw_ct (wndw_strt_ts, slot_ct)
            select opens + later * interval '4 seconds', 0 from generate_series(0, 99) as later;
        end if;
        for event in 1 .. 100 loop
            update rl_wndw_ct set slot_ct = slot_ct + 1 where wndw_strt_ts = opens;
            commit;
        end loop;
        opens := opens + interval '4 seconds';
    end loop;
end
$$;

vacuum (analyze) rl_wndw_ct, rl_event_slot_dtl, rl_wndw_frontier_trk;
