-- Who may do what.
CREATE ROLE somebody;
CREATE ROLE watcher;
GRANT pg_monitor TO watcher;
CREATE ROLE reader;
GRANT USAGE ON SCHEMA walrus TO reader;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA walrus TO reader;
SELECT count(*) FROM pg_proc, aclexplode(proacl) right_ WHERE pronamespace = 'walrus'::regnamespace AND grantee = 0;
SELECT count(*) FROM pg_proc WHERE pronamespace = 'walrus'::regnamespace AND proacl IS NULL;
SET ROLE somebody;
SELECT walrus.status();
SELECT * FROM walrus.history;
RESET ROLE;
GRANT USAGE ON SCHEMA walrus TO somebody;
SET ROLE somebody;
SELECT walrus.status();
SELECT walrus.analyze(apply := true);
SELECT walrus.reset();
SELECT * FROM walrus.history;
-- Monitoring reads.
SET ROLE watcher;
SELECT walrus.status() IS NOT NULL AS status, walrus.recommendation() IS NOT NULL AS recommendation,
       walrus.metrics() IS NOT NULL AS metrics;
SELECT count(*) FROM walrus.history();
SELECT walrus.analyze(apply := true);
-- The right to call is not yet the right to change.
SET ROLE reader;
SELECT walrus.analyze() ->> 'analyzed' AS analyzed;
SELECT walrus.analyze(apply := true);
SELECT walrus.reset();
SELECT walrus.cleanup_history();
RESET ROLE;
SELECT walrus.status() ->> 'total_adjustments' AS adjustments;
-- The role walrus_admin, where it exists when the extension is made.
DROP EXTENSION walrus;
CREATE ROLE walrus_admin;
CREATE ROLE deputy IN ROLE walrus_admin;
CREATE EXTENSION walrus;
SET ROLE deputy;
SELECT walrus.analyze(apply := true) ->> 'applied' AS applied;
SELECT walrus.reset(), walrus.cleanup_history();
SELECT current_user;
-- It is no superuser by that.
ALTER SYSTEM SET max_wal_size = '64MB';
INSERT INTO walrus.history (action, old_size_mb, new_size_mb, forced_checkpoints, checkpoint_timeout_sec)
    VALUES ('increase', 1, 2, 3, 4);
RESET ROLE;
-- Gone without a trace in the role.
DROP EXTENSION walrus;
DROP ROLE deputy;
DROP ROLE walrus_admin;
DROP OWNED BY somebody, reader, watcher;
DROP ROLE somebody, reader, watcher;
CREATE EXTENSION walrus;
