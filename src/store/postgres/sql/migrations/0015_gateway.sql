-- The gateway: whose messages are counted, the messages, and what waits for the sender. Numbers stand for the
-- enumerators of src/core/gateway/message.hpp.

-- One that exists is used with its rows; whether it can be is seen to when the gateway opens it. Room is left in
-- each page, and no index is on what changes: a count stays in its page.
create table if not exists @tables@."PostgresEntity" (
    "userId"          integer primary key,
    "rateLimit"       integer not null,
    "timeWindow"      integer not null, -- Minutes.
    "currentCount"    integer not null,
    "lastRefreshTime" timestamptz not null
) with (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.05);

create table sluice.gateway_message (
    message_id   text collate "C" primary key,
    user_no      integer not null,
    state_cd     smallint not null,
    queued_ts    timestamptz not null, -- When it was reserved last.
    changed_ts   timestamptz not null,
    wndw_strt_ts timestamptz not null, -- Of that reservation, exactly as the user's row had it.
    handed_ct    integer not null,     -- How often it was handed out under it.
    acknowledged boolean not null,     -- Whoever sends it has it.
    expires_ts   timestamptz
) with (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05);
-- Retention finds what is oldest. A BRIN would not: the pages of what went are used again.
create index gateway_message_i01x on sluice.gateway_message (queued_ts);

-- Which message a request of a user is. Kept apart, because it is forgotten long before the message.
create table sluice.gateway_request (
    user_no     integer not null,
    request_tx  text collate "C" not null,
    message_id  text collate "C" not null,
    reserved_ts timestamptz not null,
    primary key (user_no, request_tx)
) with (autovacuum_vacuum_scale_factor = 0.05);
create index gateway_request_i01x on sluice.gateway_request (reserved_ts);

-- What waits for the sender. Several share it: each claims what it reads until a time, and then it is anybody's.
create table sluice.gateway_outbox (
    number_no  bigint generated always as identity primary key,
    message_id text collate "C" not null,
    user_no    integer not null,
    message_by bytea not null, -- Its text: it may hold a zero byte.
    to_nm      text,
    from_nm    text,
    expires_ts timestamptz,
    sender_nm  text,           -- Who has claimed it, until then.
    claimed_ts timestamptz
) with (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02);

-- A user's window while a batch is decided. fault_cd: why there is none. 1 held by another transaction,
-- 2 not readable.
create type sluice.gateway_window as (limit_ct integer, minutes_ct integer, sent_ct integer,
    wndw_strt_ts timestamptz, fault_cd smallint);

-- What a request for a place comes to. verdict_cd: that of Reserved::Verdict, or null and why nothing was decided.
create type sluice.gateway_reply as (verdict_cd smallint, fault_cd smallint, message_id text, window_ms bigint,
    expires_ms bigint, retry_ms bigint);
