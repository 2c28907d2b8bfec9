//! Values of settings that are written in two ways.

use tidemark_core::record::{RunRecord, Setting};
use tidemark_core::{Engine, Protocol};

/// Modes of files, which PostgreSQL shows in octal digits and keeps the default of in decimal ones
/// (PostgreSQL manual, 20.8 and 20.3: numeric mode values; `pg_settings.boot_val`).
const FILE_MODES: [&str; 3] = [
    "data_directory_mode",
    "log_file_mode",
    "unix_socket_permissions",
];
/// How a truth value may be written (PostgreSQL manual, 20.1.1; MariaDB knowledge base, Server
/// System Variables: boolean).
const TRUE: [&str; 4] = ["on", "true", "yes", "1"];
const FALSE: [&str; 4] = ["off", "false", "no", "0"];
/// Units of memory and of time, in bytes and in microseconds (PostgreSQL manual, 20.1.1).
const MEMORY: [(&str, u64); 5] = [
    ("TB", 1 << 40),
    ("GB", 1 << 30),
    ("MB", 1 << 20),
    ("kB", 1 << 10),
    ("B", 1),
];
const TIME: [(&str, u64); 6] = [
    ("min", 60_000_000),
    ("ms", 1000),
    ("us", 1),
    ("d", 86_400_000_000),
    ("h", 3_600_000_000),
    ("s", 1_000_000),
];

/// A value in one notation: two values of a setting that have the same are one value to the engine.
/// What can't be told for certain stays as it is written.
pub(crate) fn canonical(engine: Engine, name: &str, value: &str) -> String {
    let lower = value.to_ascii_lowercase();
    let protocol = engine.protocol();
    if protocol == Protocol::Postgres && FILE_MODES.contains(&name) {
        let mode = match value.strip_prefix('0') {
            Some(octal) if !octal.is_empty() => u32::from_str_radix(octal, 8).ok(),
            _ => value.parse().ok(),
        };
        return mode.map_or(value.into(), |mode| mode.to_string());
    }
    if protocol == Protocol::Sqlite {
        return value.into();
    }
    if TRUE.contains(&&*lower) {
        return "on".into();
    }
    if FALSE.contains(&&*lower) {
        return "off".into();
    }
    let amount = || {
        let digits = value.find(|c: char| !c.is_ascii_digit())?;
        let number: u64 = value[..digits].parse().ok()?;
        let of = |units: &[(&str, u64)], base: &str| {
            let (_, size) = units.iter().find(|(unit, _)| *unit == &value[digits..])?;
            Some(match number.checked_mul(*size)? {
                // Of a setting with a unit, 0 may be written without one.
                0 => "off".into(),
                amount => format!("{amount}{base}"),
            })
        };
        of(&MEMORY, "B").or_else(|| of(&TIME, "us"))
    };
    let has_units = protocol == Protocol::Postgres;
    has_units.then(amount).flatten().unwrap_or(value.into())
}

/// The settings that tell something: those that always matter, and those that differ from their
/// default in more than how they are written.
pub fn telling_settings(record: &RunRecord) -> impl Iterator<Item = &Setting> {
    let engine = record.server.as_ref().map(|server| server.engine);
    record.settings.iter().filter(move |setting| {
        let (Some(engine), Some(default)) = (engine, &setting.default) else {
            return true;
        };
        let one = |value: &str| canonical(engine, &setting.name, value);
        // The same in the same words: it is told because it always matters.
        *default == setting.value || one(default) != one(&setting.value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_in_two_notations_is_one() {
        for (engine, name, a, b) in [
            (Engine::Postgres, "log_file_mode", "0600", "384"),
            (Engine::Postgres, "unix_socket_permissions", "0777", "511"),
            (Engine::Postgres, "data_directory_mode", "0700", "448"),
            (Engine::Postgres, "shared_buffers", "128MB", "131072kB"),
            (Engine::Postgres, "checkpoint_timeout", "5min", "300s"),
            (Engine::Postgres, "wal_compression", "on", "true"),
            (Engine::Postgres, "vacuum_cost_delay", "0ms", "0"),
            (Engine::Postgres, "checkpoint_warning", "0min", "0s"),
            (Engine::Postgres, "temp_buffers", "0", "0kB"),
            (Engine::Postgres, "temp_buffers", "0B", "0MB"),
            (Engine::Mariadb, "skip_name_resolve", "ON", "1"),
            (Engine::Mysql, "autocommit", "off", "0"),
        ] {
            assert_eq!(
                canonical(engine, name, a),
                canonical(engine, name, b),
                "{name}"
            );
        }
    }

    #[test]
    fn what_may_be_another_value_is_another() {
        for (engine, name, a, b) in [
            (Engine::Postgres, "log_file_mode", "0600", "600"),
            (Engine::Postgres, "max_connections", "0100", "64"),
            (Engine::Postgres, "shared_buffers", "128MB", "16384"),
            (Engine::Postgres, "shared_buffers", "128MB", "128GB"),
            (Engine::Postgres, "wal_writer_delay", "1s", "1MB"),
            (
                Engine::Postgres,
                "work_mem",
                "99999999999999999999MB",
                "1MB",
            ),
            (Engine::Postgres, "log_file_mode", "0", "off"),
            (Engine::Postgres, "statement_timeout", "0", "1ms"),
            (Engine::Mariadb, "character_set_server", "0ms", "0"),
            (Engine::Mariadb, "innodb_flush_log_at_trx_commit", "2", "1"),
            (Engine::Mariadb, "character_set_server", "5min", "300s"),
            (Engine::Sqlite, "foreign_keys", "1", "on"),
        ] {
            assert_ne!(
                canonical(engine, name, a),
                canonical(engine, name, b),
                "{name}"
            );
        }
    }
}
