\set VERBOSITY terse
-- What the table takes and refuses, and how it is cleaned up.
CREATE FUNCTION pg_temp.note(action text, age interval DEFAULT '0', old_size int DEFAULT 1, new_size int DEFAULT 2,
                             forced bigint DEFAULT 3, timeout int DEFAULT 300) RETURNS void LANGUAGE sql AS
    $$ INSERT INTO walrus.history (timestamp, action, old_size_mb, new_size_mb, forced_checkpoints,
                                   checkpoint_timeout_sec, reason, metadata)
       VALUES (now() - age, action, old_size, new_size, forced, timeout, 'a test', '{"a": 1}') $$;
\d walrus.history
SELECT pg_temp.note('increase', '9 days'), pg_temp.note('decrease', '8 days'), pg_temp.note('capped', '6 days'),
       pg_temp.note('dry_run', '5 days'), pg_temp.note('skipped');
SELECT pg_temp.note('forced');
SELECT pg_temp.note('increase', old_size => 0);
SELECT pg_temp.note('increase', new_size => -1);
SELECT pg_temp.note('increase', forced => -1);
SELECT pg_temp.note('increase', timeout => 0);
-- Oldest first.
SELECT action, old_size_mb, new_size_mb, forced_checkpoints, reason FROM walrus.history();
-- Seven days, unless set otherwise.
SELECT walrus.cleanup_history();
SELECT walrus.cleanup_history();
SELECT action FROM walrus.history();
-- reset() removes the rest.
SELECT walrus.reset();
SELECT count(*) FROM walrus.history;
-- Without its table: a warning, and no error.
ALTER TABLE walrus.history RENAME TO elsewhere;
SELECT walrus.cleanup_history();
SELECT walrus.reset();
ALTER TABLE walrus.elsewhere RENAME TO history;
