-- What the store of limits remembers: of each key under each plan.

-- Room is left in each page, and no index is on what changes: a charge stays in its page, and no index has to
-- follow. An override is in the row of its key, so that one lock holds both.
create table sluice.limit_state (
    limit_key         bytea not null check (octet_length(limit_key) between 1 and 256),
    plan_nm           text collate "C" not null check (octet_length(plan_nm) between 1 and 128),
    version_no        smallint not null default 1 check (version_no = 1), -- Of the meaning of the others.
    algorithm_no      smallint,
    state             bigint[], -- Null: nothing is known.
    override_no       smallint, -- The algorithm of the override; null: there is none.
    override_terms    bigint[],
    override_until    bigint,   -- Microseconds since 1970.
    override_state    bigint[],
    idle_at           bigint not null default 0, -- From then on the row is as good as none.
    primary key (limit_key, plan_nm)
) with (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.05);

-- The plans that sluice.allow knows, as the nodes loaded them.
create table sluice.plan (
    name         text collate "C" primary key,
    algorithm    text not null,
    algorithm_no smallint not null,
    terms        bigint[] not null,
    shadow       boolean not null,
    loaded_at    timestamptz not null default clock_timestamp()
);

create sequence sluice.lease_number cache 16;

-- What one check comes to. fault: null, 'contended' or 'cost'; with one, the rest is null. plan_no counts
-- the plans of the check from 0.
create type sluice.limit_verdict as (fault text, allowed boolean, shadowed boolean, plan_no integer,
    limit_ct bigint, remaining bigint, retry_after bigint, reset_after bigint, lease bigint);

-- What decides for a key now: the rule of its override or else the plan's own, and what is remembered under
-- it. What another algorithm has left is of no use to this one.
create type sluice.limit_footing as (overridden boolean, algorithm integer, terms bigint[], state bigint[]);

-- Where one plan leaves a check: its step, or why there is none.
create type sluice.limit_link as (footing sluice.limit_footing, step sluice.limit_step, shadow boolean);
