-- How a config spreads its events in a window (0 random, 1 stratified), and what it makes of times gone by
-- (0 as sent, 1 now).
alter table @tables@.rl_event_wndw_config
    add column spread_cd smallint not null default 0 check (spread_cd in (0, 1)),
    add column past_cd smallint not null default 0 check (past_cd in (0, 1));

-- Of a stratified window: who owns each of its cells, see cells.sql. Null: its events lie without cells.
alter table @tables@.rl_wndw_ct add column cells smallint[];

-- They know neither. What takes their place has defaults, so that older nodes can call it.
drop function if exists sluice.store_slots(timestamptz, text[], text[], text[], bigint[], bigint[], bigint[],
    integer[], bigint[]);
drop function if exists sluice.put_config(text, integer, bigint, text, text, bigint, integer, timestamptz);
