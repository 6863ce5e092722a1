insert into sluice.thing (id) values (1), (2);
