-- They took the time of a node, which decided what was deleted and what was refused.
drop function if exists sluice.forget_windows(text, timestamptz, integer);
drop function if exists sluice.recut_pool(sluice.pool, text, bigint, timestamptz);
