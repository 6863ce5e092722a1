-- What a place is: a window of a pool, and a time in it, under a version of a config.
create type sluice.place as (config_id text, pool_nm text, window_ms bigint, scheduled_ms bigint);
