-- Counters of full windows, and nothing else: :windows of them in pool scale-:windows.
insert into rl_wndw_ct (pool_nm, wndw_strt_ts, slot_ct)
select 'scale-' || :windows, timestamptz '2035-01-01 00:00:00+00' + number * interval '4 seconds', 100
from generate_series(0, :windows - 1) as number;
insert into rl_wndw_frontier_trk (pool_nm, req_ts, wndw_end_ts)
select 'scale-' || :windows, opens, opens + interval '400 seconds'
from (select timestamptz '2035-01-01 00:00:00+00' + chunk * interval '400 seconds' as opens
      from generate_series(0, :windows / 100 - 1) as chunk) as chunks;
vacuum (analyze) rl_wndw_ct, rl_wndw_frontier_trk;
