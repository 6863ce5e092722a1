-- Every parameter with its type, unit, range, default and context.
SELECT name, vartype, unit, min_val, max_val, boot_val, context
    FROM pg_settings WHERE name LIKE 'walrus.%' ORDER BY name;
-- Out of range: refused by PostgreSQL, with its own message.
ALTER SYSTEM SET walrus.cooldown_sec = -1;
ALTER SYSTEM SET walrus.cooldown_sec = 86401;
ALTER SYSTEM SET walrus.max_changes_per_hour = 1001;
ALTER SYSTEM SET walrus.max = 1;
ALTER SYSTEM SET walrus.min_size = '1MB';
ALTER SYSTEM SET walrus.threshold = 0;
ALTER SYSTEM SET walrus.shrink_factor = 1.0;
ALTER SYSTEM SET walrus.shrink_factor = 0;
ALTER SYSTEM SET walrus.shrink_intervals = 0;
ALTER SYSTEM SET walrus.history_retention_days = 3651;
ALTER SYSTEM SET walrus.check_interval_sec = -1;
ALTER SYSTEM SET walrus.enable = 'perhaps';
ALTER SYSTEM SET walrus.max = '2 apples';
ALTER SYSTEM SET walrus.notify_channel = '0123456789012345678901234567890123456789012345678901234567890123';
-- Not for one session, not without a restart, and no others.
SET walrus.enable = off;
SET walrus.database = 'other';
SET walrus.unknown = 1;
ALTER SYSTEM SET walrus.unknown = 1;
-- At the ends of the ranges: accepted.
ALTER SYSTEM SET walrus.cooldown_sec = 0;
ALTER SYSTEM SET walrus.cooldown_sec = '1d';
ALTER SYSTEM SET walrus.max_changes_per_hour = 1000;
ALTER SYSTEM SET walrus.max = 2147483647;
ALTER SYSTEM RESET walrus.cooldown_sec;
ALTER SYSTEM RESET walrus.max_changes_per_hour;
ALTER SYSTEM RESET walrus.max;
SELECT count(*) FROM pg_file_settings WHERE sourcefile ~ 'auto.conf' AND name ~ '^walrus';
