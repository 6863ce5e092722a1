-- The cells of stratified windows, by the rules of src/core/slots/window_cells. A window's cells are an array that
-- holds for each the number of the cell that owns it, from 0 on; null: it is free. An event owns cells by the
-- number of the first of them, which its time lies in.

create or replace function sluice.cell_of(a_offset bigint, a_size bigint, a_count integer) returns smallint
language sql immutable strict parallel safe
return (((a_offset + 1) * a_count - 1) / a_size)::smallint;

-- The cells of a window that holds a_held places, cut into a_count. Null: its events lie without cells, or in those
-- of another cut.
create or replace function sluice.cells_of(a_cells smallint[], a_held bigint, a_count integer) returns smallint[]
language sql immutable parallel safe
return case when a_held = 0 then array_fill(null::smallint, array[a_count])
            when cardinality(a_cells) = a_count then a_cells end;

create or replace function sluice.take_cells(a_cells smallint[], a_taken integer[]) returns smallint[]
language plpgsql immutable parallel safe as $$
declare
    cell integer;
begin
    foreach cell in array a_taken loop
        a_cells[cell + 1] := a_taken[1];
    end loop;
    return a_cells;
end
$$;

-- The same for many events, each as "count:cell,cell,...".
create or replace function sluice.take_cells_of_all(a_cells smallint[], a_held bigint, a_taken text[])
returns smallint[] language plpgsql immutable parallel safe as $$
declare
    cells smallint[] := sluice.cells_of(a_cells, a_held, split_part(a_taken[1], ':', 1)::integer);
    taken text;
begin
    foreach taken in array a_taken loop
        cells := sluice.take_cells(cells, string_to_array(split_part(taken, ':', 2), ',')::integer[]);
    end loop;
    return cells;
end
$$;

-- What is left when the event at this offset has given back its own.
create or replace function sluice.release_cells(a_cells smallint[], a_offset bigint, a_size bigint) returns smallint[]
language sql immutable strict parallel safe
return array_replace(a_cells, sluice.cell_of(a_offset, a_size, cardinality(a_cells)), null);

-- Free cells for an event that may lie between two times of a window, and a time in the first of them: random, but
-- for a weight above 1 as near to each other as there are, in steps of the weight. Null: too few are free.
create or replace function sluice.place_in_cells(a_cells smallint[], a_window bigint, a_size bigint, a_requested bigint,
    a_latest bigint, a_weight integer, out cells smallint[], out scheduled_ms bigint)
language plpgsql volatile as $$
declare
    cell_ct constant integer := cardinality(a_cells);
    first_cell constant integer := sluice.cell_of(greatest(a_requested - a_window, 0), a_size, cell_ct);
    last_cell constant integer := sluice.cell_of(least(a_latest - a_window, a_size - 1), a_size, cell_ct);
    taken integer[];
begin
    -- Cells are not read by their subscripts: to find one, the server walks over all before it where some are null.
    if a_weight = 1 then
        select array[place - 1] into taken from unnest(a_cells) with ordinality as cell (owner, place)
        where owner is null and place - 1 between first_cell and last_cell order by random() limit 1;
    else
        with free as (
            select number, lead(number, a_weight - 1) over (order by number) as last_number,
                   (row_number() over (order by number) - 1) % a_weight = 0 as is_step
            from (select place::integer - 1 as number from unnest(a_cells) with ordinality as cell (owner, place)
                  where owner is null and place - 1 >= first_cell) as one
        ), first as (
            select number, last_number from free
            where last_number is not null and is_step and number <= last_cell
            order by last_number - number, random() limit 1
        )
        select array_agg(free.number order by free.number) into taken
        from free, first where free.number between first.number and first.last_number;
    end if;
    if taken is null then
        return;
    end if;
    cells := sluice.take_cells(a_cells, taken);
    scheduled_ms := sluice.draw_time(a_window + taken[1] * a_size / cell_ct,
        (taken[1] + 1) * a_size / cell_ct - taken[1] * a_size / cell_ct, a_requested, a_latest);
end
$$;
