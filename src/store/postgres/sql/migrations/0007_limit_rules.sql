-- What one check comes to under one rule. `state` and `idle_at` are what is to be stored if it is charged;
-- null when it was denied or is a peek.
create type sluice.limit_step as (allowed boolean, remaining bigint, retry_after bigint, reset_after bigint,
    state bigint[], idle_at bigint);
