//! Settings of the PostgreSQL family.

use super::listed;
use crate::Session;
use tidemark_core::DbError;
use tidemark_core::record::Setting;

/// What decides durability, memory, concurrency and the plan, whatever its value.
pub(super) const ALWAYS: &[&str] = &[
    "autovacuum",
    "checkpoint_timeout",
    "commit_delay",
    "data_checksums",
    "default_transaction_isolation",
    "effective_cache_size",
    "effective_io_concurrency",
    "fsync",
    "full_page_writes",
    "huge_pages",
    "jit",
    "maintenance_work_mem",
    "max_connections",
    "max_parallel_workers_per_gather",
    "max_wal_size",
    "random_page_cost",
    "shared_buffers",
    "ssl",
    "synchronous_commit",
    "synchronous_standby_names",
    "track_io_timing",
    "wal_buffers",
    "wal_compression",
    "wal_level",
    "wal_sync_method",
    "work_mem",
];

/// Settings that CockroachDB's documentation names for performance, shown where the server can't
/// tell what differs from its default.
const COCKROACH_ALWAYS: &[&str] = &[
    "kv.range_merge.queue_enabled",
    "kv.transaction.write_pipelining.enabled",
    "kv.transaction.write_pipelining_enabled",
    "sql.defaults.distsql",
    "sql.defaults.vectorize",
    "sql.stats.automatic_collection.enabled",
];

/// Settings that differ from what the server was built with (PostgreSQL manual, pg_settings:
/// `boot_val`); what belongs to our own session is not the server's, and what the server chose by
/// itself at its start (`wal_buffers` of -1, the caches of PostgreSQL 17 on) is its default.
pub(super) async fn settings(session: &mut Session) -> Result<Vec<Setting>, DbError> {
    let rows = session
        .query(&format!(
            "SELECT name, setting, CASE WHEN source IN ('default', 'override') THEN setting \
             ELSE boot_val END, unit FROM pg_catalog.pg_settings \
             WHERE name IN ({}) OR (setting IS DISTINCT FROM boot_val AND context <> 'internal' \
             AND source NOT IN ('client', 'session', 'default', 'override'))",
            listed(ALWAYS)
        ))
        .await?;
    Ok((0..rows.len())
        .filter_map(|row| {
            let unit = rows.text(row, 3).unwrap_or_default();
            Some(Setting {
                name: rows.text(row, 0)?,
                value: with_unit(&rows.text(row, 1)?, &unit),
                default: rows.text(row, 2).map(|v| with_unit(&v, &unit)),
            })
        })
        .collect())
}

/// `SHOW CLUSTER SETTINGS` has the default in its fifth column from 23.1 on
/// (cockroachlabs.com/docs/stable/show-cluster-setting).
pub(super) async fn cockroach(session: &mut Session) -> Result<Vec<Setting>, DbError> {
    let rows = session.query("SHOW CLUSTER SETTINGS").await?;
    let tells_default = rows.columns() >= 5;
    Ok((0..rows.len())
        .filter_map(|row| {
            Some(Setting {
                name: rows.text(row, 0)?,
                value: rows.text(row, 1)?,
                default: if tells_default {
                    rows.text(row, 4)
                } else {
                    None
                },
            })
        })
        .filter(|s| {
            COCKROACH_ALWAYS.contains(&s.name.as_str())
                || s.default.as_ref().is_some_and(|d| *d != s.value)
        })
        .collect())
}

/// A number in the largest unit that keeps it whole, as `SHOW` writes it: 16384 of 8kB is 128MB.
/// -1 and 0 stay as they are: they mean "off" or "by itself".
fn with_unit(setting: &str, unit: &str) -> String {
    const MEMORY: [(&str, i64); 5] = [
        ("TB", 1 << 40),
        ("GB", 1 << 30),
        ("MB", 1 << 20),
        ("kB", 1 << 10),
        ("B", 1),
    ];
    const TIME: [(&str, i64); 5] = [
        ("d", 86_400_000),
        ("h", 3_600_000),
        ("min", 60_000),
        ("s", 1000),
        ("ms", 1),
    ];
    let scaled = |units: &[(&str, i64)]| {
        let digits = unit.find(|c: char| !c.is_ascii_digit())?;
        let times: i64 = if digits == 0 {
            1
        } else {
            unit[..digits].parse().ok()?
        };
        let (_, size) = units.iter().find(|(name, _)| *name == &unit[digits..])?;
        let number: i64 = setting.parse().ok().filter(|n| *n > 0)?;
        let total = number.checked_mul(size.checked_mul(times)?)?;
        let (name, size) = units.iter().find(|(_, size)| total % size == 0)?;
        Some(format!("{}{name}", total / size))
    };
    scaled(&MEMORY)
        .or_else(|| scaled(&TIME))
        .unwrap_or_else(|| setting.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_get_the_largest_whole_unit() {
        for (setting, unit, shown) in [
            ("16384", "8kB", "128MB"),
            ("4096", "kB", "4MB"),
            ("1024", "MB", "1GB"),
            ("300", "s", "5min"),
            ("200", "ms", "200ms"),
            ("90", "min", "90min"),
            ("-1", "8kB", "-1"),
            ("0", "ms", "0"),
            ("on", "", "on"),
            ("1.5", "", "1.5"),
            ("7", "parsecs", "7"),
        ] {
            assert_eq!(with_unit(setting, unit), shown, "{setting} {unit}");
        }
    }
}
