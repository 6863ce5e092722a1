select assign_slot(gen_random_uuid()::text, timestamptz '2035-01-01 00:00:00+00', 100, 4000, 'seed-1');
