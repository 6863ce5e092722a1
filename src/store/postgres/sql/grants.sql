-- An application needs rights on no table: it may call these functions, and nothing else. What an operator has
-- granted to others stays.
do $$
begin
    if not exists (select from pg_roles where rolname = 'sluice_client') then
        create role sluice_client nologin;
    end if;
exception when duplicate_object or unique_violation then
    null; -- Roles belong to the whole server: a node on another of its databases was faster.
end
$$;
revoke execute on all functions in schema sluice from public;
grant usage on schema sluice to sluice_client;
grant execute on function sluice.assign_slot, sluice.assign_slots, sluice.allow to sluice_client;
