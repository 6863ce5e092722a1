-- The shape of every answer.
SELECT walrus.reset();
SELECT key, jsonb_typeof(value) AS type FROM jsonb_each(walrus.status()) ORDER BY key;
SELECT status ->> 'enabled' AS enabled, status ->> 'threshold' AS threshold,
       status ->> 'shrink_factor' AS shrink_factor, status ->> 'configured_maximum_mb' AS maximum,
       status ->> 'changes_this_hour' AS changes, status ->> 'hourly_window_start' AS hour,
       status ->> 'cooldown_active' AS cooldown, status ->> 'cooldown_remaining_sec' AS remaining,
       status ->> 'last_adjustment_time' AS last, status ->> 'hourly_limit_reached' AS reached,
       status ->> 'fixed_by_command_line' AS fixed
    FROM walrus.status() status;
SELECT (status ->> 'current_max_wal_size_mb') || 'MB' = current_setting('max_wal_size') AS same
    FROM walrus.status() status;
-- After a reset there is nothing to compare with yet.
SELECT walrus.recommendation() - 'confidence' AS recommendation;
SELECT (walrus.recommendation() ->> 'confidence')::int <= 50 AS unsure;
SELECT key, jsonb_typeof(value) AS type FROM jsonb_each(walrus.recommendation()) ORDER BY key;
SELECT walrus.analyze() - 'recommendation' AS analyzed;
-- Asked to apply what is no change, it changes nothing.
SELECT walrus.analyze(apply := true) ->> 'applied' AS applied;
SELECT walrus.status() ->> 'total_adjustments' AS adjustments;
SELECT walrus.analyze(NULL);
-- One line per metric, each with its help and its type.
SELECT line FROM regexp_split_to_table(walrus.metrics(), E'\n') line WHERE line LIKE '# TYPE%';
SELECT count(*) FROM regexp_split_to_table(walrus.metrics(), E'\n') line
    WHERE line !~ '^# (HELP|TYPE) walrus_[a-z0-9_]+ .+$' AND line !~ '^walrus_[a-z0-9_]+({[a-z]+="[a-z_]+"})? \d+$'
      AND line <> '';
