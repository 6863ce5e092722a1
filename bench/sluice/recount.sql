-- Counters that differ from their slots, and windows above the cap: both must be 0.
select (select count(*) from sluice.recount where counted <> recounted)
     + (select count(*) from rl_wndw_ct where slot_ct > 100);
