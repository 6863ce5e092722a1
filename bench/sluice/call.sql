select sluice.assign_slot(gen_random_uuid()::text, 'default', timestamptz '2035-01-01 00:00:00+00');
