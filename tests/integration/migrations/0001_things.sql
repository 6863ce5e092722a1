-- What a migration may hold: several statements; quotes and ${dollars} that CMake must leave alone.
create table sluice.thing (id int8 primary key, note text default 'a;b "c" \ @d@ [e]');
create function sluice.things() returns int8 language sql as $$ select count(*) from sluice.thing $$;
