-- The objects of the extension, its versions, and what is left when it goes.
CREATE EXTENSION walrus VERSION '1.0';
SELECT extversion, extrelocatable FROM pg_extension WHERE extname = 'walrus';
INSERT INTO walrus.history (action, old_size_mb, new_size_mb, forced_checkpoints, checkpoint_timeout_sec)
    VALUES ('increase', 1, 2, 3, 4);
ALTER EXTENSION walrus UPDATE;
SELECT extversion FROM pg_extension WHERE extname = 'walrus';
SELECT count(*) FROM walrus.history;
SELECT * FROM pg_extension_update_paths('walrus') WHERE path IS NOT NULL ORDER BY 1, 2;
\dx+ walrus
SELECT proname, pg_get_function_arguments(oid) AS arguments, pg_get_function_result(oid) AS result
    FROM pg_proc WHERE pronamespace = 'walrus'::regnamespace ORDER BY proname;
-- Names that already stand are not taken over.
DROP EXTENSION walrus;
CREATE SCHEMA walrus;
CREATE EXTENSION walrus;
DROP SCHEMA walrus;
-- A new installation is the newest version.
CREATE EXTENSION walrus;
SELECT extversion FROM pg_extension WHERE extname = 'walrus';
DROP EXTENSION walrus;
SELECT count(*) FROM pg_namespace WHERE nspname = 'walrus';
SELECT count(*) FROM pg_class WHERE relname LIKE '%walrus%' OR relname LIKE 'history%';
SELECT count(*) FROM pg_proc WHERE proname ~ 'walrus' OR prosrc ~ 'walrus';
SELECT count(*) FROM pg_roles WHERE rolname ~ 'walrus';
SELECT count(*) FROM pg_depend d JOIN pg_extension e ON d.refobjid = e.oid WHERE e.extname = 'walrus';
CREATE EXTENSION walrus;
