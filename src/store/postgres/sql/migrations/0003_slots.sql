-- What a window holds after places were given back.
create type sluice.room as (pool_nm text, window_ms bigint, slot_ct bigint);
