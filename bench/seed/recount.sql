-- Differences between the counters and the slots, and windows above the cap: both must be 0.
select (select count(*) from rl_wndw_ct full join
            (select wndw_strt_ts, count(*) as slots from rl_event_slot_dtl group by 1) as stored
            using (wndw_strt_ts)
        where coalesce(slot_ct, 0) <> coalesce(slots, 0))
     + (select count(*) from rl_wndw_ct where slot_ct > 100);
