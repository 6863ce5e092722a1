\echo Use "CREATE EXTENSION walrus" to load this file. \quit

-- Made here, not by the control file: so it belongs to the extension and goes with it.
CREATE SCHEMA walrus;

CREATE TABLE walrus.history (
    id bigserial PRIMARY KEY,
    timestamp timestamptz NOT NULL DEFAULT now(),
    action text NOT NULL CHECK (action IN ('increase', 'decrease', 'capped', 'dry_run', 'skipped')),
    old_size_mb integer NOT NULL CHECK (old_size_mb > 0),
    new_size_mb integer NOT NULL CHECK (new_size_mb > 0),
    forced_checkpoints bigint NOT NULL CHECK (forced_checkpoints >= 0),
    checkpoint_timeout_sec integer NOT NULL CHECK (checkpoint_timeout_sec > 0),
    reason text,
    metadata jsonb
);
CREATE INDEX walrus_history_timestamp_idx ON walrus.history (timestamp);
COMMENT ON TABLE walrus.history IS 'Every change of max_wal_size that walrus made, left out or was kept from';
COMMENT ON COLUMN walrus.history.forced_checkpoints IS
    'The server''s counter of requested checkpoints at the decision; the interval''s own are in metadata';

CREATE FUNCTION walrus.status() RETURNS jsonb
    LANGUAGE C SET search_path = pg_catalog, pg_temp AS 'MODULE_PATHNAME', 'walrus_status';
COMMENT ON FUNCTION walrus.status() IS 'Settings, counters, cooldown and hour as they are now';

CREATE FUNCTION walrus.history()
    RETURNS TABLE ("timestamp" timestamptz, action text, old_size_mb integer, new_size_mb integer,
                   forced_checkpoints bigint, reason text)
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
    SELECT h.timestamp, h.action, h.old_size_mb, h.new_size_mb, h.forced_checkpoints, h.reason
    FROM walrus.history h
    ORDER BY h.timestamp, h.id
$$;
COMMENT ON FUNCTION walrus.history() IS 'The history, oldest first';

CREATE FUNCTION walrus.recommendation() RETURNS jsonb
    LANGUAGE C SET search_path = pg_catalog, pg_temp AS 'MODULE_PATHNAME', 'walrus_recommendation';
COMMENT ON FUNCTION walrus.recommendation() IS 'What would be done if the interval ended now';

CREATE FUNCTION walrus.analyze(apply boolean DEFAULT false) RETURNS jsonb
    LANGUAGE C STRICT SET search_path = pg_catalog, pg_temp AS 'MODULE_PATHNAME', 'walrus_analyze';
COMMENT ON FUNCTION walrus.analyze(boolean) IS 'The recommendation, and with apply the change, past the governor';

CREATE FUNCTION walrus.reset() RETURNS boolean
    LANGUAGE C SET search_path = pg_catalog, pg_temp AS 'MODULE_PATHNAME', 'walrus_reset';
COMMENT ON FUNCTION walrus.reset() IS 'Forgets counters, cooldown and hour, and removes the history';

CREATE FUNCTION walrus.cleanup_history() RETURNS bigint
    LANGUAGE C SET search_path = pg_catalog, pg_temp AS 'MODULE_PATHNAME', 'walrus_cleanup_history';
COMMENT ON FUNCTION walrus.cleanup_history() IS 'Removes rows older than walrus.history_retention_days';

-- Reading is for monitoring, changing for superusers and, where it exists, the role walrus_admin.
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA walrus FROM PUBLIC;
REVOKE ALL ON walrus.history FROM PUBLIC;
GRANT USAGE ON SCHEMA walrus TO pg_monitor;
GRANT SELECT ON walrus.history TO pg_monitor;
GRANT EXECUTE ON FUNCTION walrus.status(), walrus.history(), walrus.recommendation() TO pg_monitor;
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'walrus_admin') THEN
        GRANT USAGE ON SCHEMA walrus TO walrus_admin;
        GRANT SELECT ON walrus.history TO walrus_admin;
        GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA walrus TO walrus_admin;
    END IF;
END
$$;
