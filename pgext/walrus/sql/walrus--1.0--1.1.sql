\echo Use "ALTER EXTENSION walrus UPDATE TO '1.1'" to load this file. \quit

CREATE FUNCTION walrus.metrics() RETURNS text
    LANGUAGE C SET search_path = pg_catalog, pg_temp AS 'MODULE_PATHNAME', 'walrus_metrics';
COMMENT ON FUNCTION walrus.metrics() IS 'Gauges and counters in the text format of Prometheus';

REVOKE ALL ON FUNCTION walrus.metrics() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION walrus.metrics() TO pg_monitor;
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'walrus_admin') THEN
        GRANT EXECUTE ON FUNCTION walrus.metrics() TO walrus_admin;
    END IF;
END
$$;
