-- What algorithms have counted under one plan's name lives apart, and the end of an override decides too.

create type sluice.limit_shelf as (algorithm_no smallint, state bigint[], idle_at bigint);

alter table sluice.limit_state
    add column shelf sluice.limit_shelf[]; -- What other algorithms than algorithm_no have counted.

-- Of an override also when it ends, and what decides from then on.
alter type sluice.limit_footing
    add attribute ends bigint, add attribute own_algorithm integer, add attribute own_terms bigint[],
    add attribute own_state bigint[];
alter type sluice.limit_link add attribute cost bigint;

-- It said no end, and took none but a node's.
drop function if exists sluice.override_limit(bytea, text, integer, bigint[], bigint);
