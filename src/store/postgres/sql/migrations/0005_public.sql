-- An event, and the place that assign_slots has found for it.
create type sluice.planned_slot as (event_id text, place sluice.place);
