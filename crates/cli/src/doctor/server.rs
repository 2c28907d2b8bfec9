//! What the server's build and settings do to a run's figures.

use super::basics::KnownTarget;
use super::told::{Area, CheckLevel, Teller};
use crate::diagnose::{StillChanged, still_changed};
use crate::messages::reason;
use crate::storing::store_path;
use crate::texts::doctor_server as texts;
use tidemark_core::record::Setting;
use tidemark_core::{Engine, Protocol, ServerInfo, Target};
use tidemark_drivers::Connector;
use tidemark_report::Lang;
use tidemark_runtime::block_on;

/// What a setting's value means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    /// A crash may lose what was committed.
    NotDurable,
    /// The end of what was committed may be lost in a loss of power, by the engine's own advice.
    LessDurable,
    /// Queries are answered without being executed.
    Cached,
    /// Each statement is logged.
    Logged,
}

/// A setting, whether its value in small letters is a bad one, what it means then, and a better value.
type SettingRule = (&'static str, fn(&str) -> bool, Meaning, &'static str);

fn is_off(value: &str) -> bool {
    matches!(value, "off" | "0" | "false" | "no")
}

fn is_on(value: &str) -> bool {
    matches!(value, "on" | "1" | "true" | "yes")
}

fn is_zero(value: &str) -> bool {
    value.parse::<f64>() == Ok(0.0)
}

/// MySQL manual, "innodb_flush_log_at_trx_commit", "sync_binlog", "innodb_doublewrite", "The General Query
/// Log"; MariaDB's, "Query Cache".
const MYSQL: &[SettingRule] = &[
    (
        "innodb_flush_log_at_trx_commit",
        |v| v != "1",
        Meaning::NotDurable,
        "1",
    ),
    ("sync_binlog", |v| v != "1", Meaning::NotDurable, "1"),
    ("innodb_doublewrite", is_off, Meaning::NotDurable, "ON"),
    (
        "innodb_flush_method",
        |v| matches!(v, "nosync" | "littlesync"),
        Meaning::NotDurable,
        "O_DIRECT",
    ),
    ("query_cache_type", |v| !is_off(v), Meaning::Cached, "OFF"),
    ("general_log", is_on, Meaning::Logged, "OFF"),
    ("long_query_time", is_zero, Meaning::Logged, "10"),
];
/// PostgreSQL manual, 19.5 and 19.8; CockroachDB's, "Cluster Settings".
const POSTGRES: &[SettingRule] = &[
    ("fsync", is_off, Meaning::NotDurable, "on"),
    ("synchronous_commit", is_off, Meaning::NotDurable, "on"),
    ("full_page_writes", is_off, Meaning::NotDurable, "on"),
    (
        "kv.raft_log.disable_synchronization_unsafe",
        is_on,
        Meaning::NotDurable,
        "false",
    ),
    ("log_statement", |v| v == "all", Meaning::Logged, "none"),
    ("log_min_duration_statement", is_zero, Meaning::Logged, "-1"),
];
/// sqlite.org/pragma.html, "synchronous" and "journal_mode".
const SQLITE: &[SettingRule] = &[
    ("synchronous", |v| v == "off", Meaning::NotDurable, "FULL"),
    (
        "synchronous",
        |v| v == "normal",
        Meaning::LessDurable,
        "FULL (--set-session)",
    ),
    (
        "journal_mode",
        |v| matches!(v, "off" | "memory"),
        Meaning::NotDurable,
        "WAL",
    ),
];

/// Tells of the server's build and settings.
pub fn examine(connector: &Connector, known: &KnownTarget, teller: &Teller) {
    let asserts = match known.server.engine {
        Engine::Postgres => asserts(connector.clone()),
        _ => false,
    };
    let lang = teller.lang;
    let build = build(&known.server, asserts, lang);
    let settings = of_settings(known.server.engine, &known.settings, lang);
    for (check, level, says) in build.into_iter().chain(settings) {
        teller.tell(Area::Conditions, level, &check, &says);
    }
}

/// Tells of settings that a diagnosis has changed and not put back.
pub fn left_by_diagnoses(target: &Target, teller: &Teller) {
    let lang = teller.lang;
    let store = store_path(None).unwrap_or_default();
    let says = match still_changed(target, &store) {
        Ok((left, doubts)) => {
            let left = left.iter().map(|left| still(left, lang));
            let doubts = doubts.iter().map(|doubt| reason(doubt, lang).into_owned());
            left.chain(doubts).collect()
        }
        Err(failure) => vec![reason(&failure.message, lang).into_owned()],
    };
    for says in says {
        teller.tell(
            Area::Conditions,
            CheckLevel::Warning,
            "changed-settings",
            &says,
        );
    }
}

fn still(left: &StillChanged, lang: Lang) -> String {
    let (name, now) = (&left.name, &left.now);
    match (left.by, &left.before) {
        (Some(process), _) => texts::changed_meanwhile(lang, process, name, now),
        (None, Some(before)) => texts::left_changed(lang, name, now, before),
        (None, None) => texts::left_changed(lang, name, now, texts::its_default(lang)),
    }
}

/// Whether a PostgreSQL checks its own code as it runs; it tells nobody but who asks.
fn asserts(connector: Connector) -> bool {
    let asked = block_on(async move {
        let mut session = connector.connect(0).await?;
        let rows = session.query("SHOW debug_assertions").await;
        session.close().await;
        rows
    });
    matches!(asked, Ok(Ok(rows)) if rows.text(0, 0).as_deref() == Some("on"))
}

type SettingFinding = (String, CheckLevel, String);

/// MySQL manual, "version_suffix": a server that was built to be debugged says so in its version.
fn build(server: &ServerInfo, asserts: bool, lang: Lang) -> Option<SettingFinding> {
    let version = &server.version;
    let is_debug = match server.engine.protocol() {
        Protocol::Mysql => version.to_ascii_lowercase().contains("-debug"),
        Protocol::Postgres => asserts,
        Protocol::Sqlite => return None,
    };
    let (level, says) = match is_debug {
        true => (CheckLevel::Warning, texts::debug_build(lang, version)),
        false => (CheckLevel::Ok, texts::build_ok(lang).into()),
    };
    Some(("server-build".into(), level, says))
}

/// A finding for each setting that spoils a run; where there is none of a kind, one that says so.
fn of_settings(engine: Engine, settings: &[Setting], lang: Lang) -> Vec<SettingFinding> {
    let rules = match engine.protocol() {
        Protocol::Mysql => MYSQL,
        Protocol::Postgres => POSTGRES,
        Protocol::Sqlite => SQLITE,
    };
    let value = |name: &str| {
        settings
            .iter()
            .find(|s| s.name == name)
            .map(|s| s.value.as_str())
    };
    let is_in_use = |name: &str| match name {
        // Each has no effect without the other.
        "sync_binlog" => value("log_bin").is_some_and(|v| is_on(&v.to_ascii_lowercase())),
        "query_cache_type" => value("query_cache_size").is_some_and(|v| !is_zero(v)),
        "long_query_time" => {
            value("slow_query_log").is_some_and(|v| is_on(&v.to_ascii_lowercase()))
        }
        _ => true,
    };
    let mut found = Vec::new();
    let (mut durable, mut is_plain) = (Vec::new(), true);
    for (name, is_bad, meaning, better) in rules {
        let Some(value) = value(name).filter(|_| is_in_use(name)) else {
            continue;
        };
        let decides = matches!(meaning, Meaning::NotDurable | Meaning::LessDurable);
        if !is_bad(&value.to_ascii_lowercase()) {
            let said = format!("{name} = {value}");
            if decides && !durable.contains(&said) {
                durable.push(said);
            }
            continue;
        }
        is_plain &= decides;
        let (level, says) = match meaning {
            Meaning::NotDurable => (
                CheckLevel::Warning,
                texts::not_durable(lang, name, value, better),
            ),
            Meaning::LessDurable => (
                CheckLevel::Note,
                texts::less_durable(lang, name, value, better),
            ),
            Meaning::Cached => (
                CheckLevel::Warning,
                texts::cached(lang, name, value, better),
            ),
            Meaning::Logged => (
                CheckLevel::Warning,
                texts::logged(lang, name, value, better),
            ),
        };
        found.push(((*name).to_string(), level, says));
    }
    let of_durability = |name: &str| {
        let mut of = rules.iter().filter(|(rule, ..)| *rule == name);
        of.any(|(_, _, meaning, _)| matches!(meaning, Meaning::NotDurable | Meaning::LessDurable))
    };
    if !durable.is_empty() && !found.iter().any(|(name, ..)| of_durability(name)) {
        let says = texts::durable(lang, durable.join(", "));
        found.push(("durability".into(), CheckLevel::Ok, says));
    }
    if is_plain && engine.protocol() != Protocol::Sqlite && !settings.is_empty() {
        found.push(("logging".into(), CheckLevel::Ok, texts::plain(lang).into()));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_that_a_diagnosis_left_is_told_with_its_value_before() {
        let mut left = StillChanged {
            name: "sync_binlog".into(),
            before: Some("1".into()),
            now: "0".into(),
            by: None,
        };
        let said = still(&left, Lang::En);
        assert!(said.contains("sync_binlog at 0 instead of 1"), "{said}");
        assert!(said.contains("tidemark diagnose"), "{said}");
        left.by = Some(77);
        let said = still(&left, Lang::En);
        assert!(
            said.contains("77") && said.contains("sync_binlog"),
            "{said}"
        );
    }

    fn told(engine: Engine, settings: &[(&str, &str)]) -> Vec<(String, CheckLevel)> {
        let setting = |(name, value): &(&str, &str)| Setting {
            name: (*name).into(),
            value: (*value).into(),
            default: None,
        };
        let settings: Vec<Setting> = settings.iter().map(setting).collect();
        let found = of_settings(engine, &settings, Lang::En);
        found
            .into_iter()
            .map(|(name, level, _)| (name, level))
            .collect()
    }

    fn has(told: &[(String, CheckLevel)], name: &str, level: CheckLevel) -> bool {
        told.iter().any(|(n, l)| n == name && *l == level)
    }

    #[test]
    fn a_mariadb_that_is_not_durable_is_told_by_each_setting() {
        let well = [
            ("innodb_flush_log_at_trx_commit", "1"),
            ("innodb_doublewrite", "ON"),
            ("log_bin", "OFF"),
            ("sync_binlog", "0"),
            ("query_cache_type", "ON"),
            ("query_cache_size", "0"),
            ("long_query_time", "0.000000"),
            ("slow_query_log", "OFF"),
        ];
        let ok = told(Engine::Mariadb, &well);
        assert_eq!(ok.len(), 2, "{ok:?}");
        assert!(has(&ok, "durability", CheckLevel::Ok) && has(&ok, "logging", CheckLevel::Ok));
        for (name, value, more) in [
            ("innodb_flush_log_at_trx_commit", "2", None),
            ("innodb_doublewrite", "OFF", None),
            ("innodb_flush_method", "nosync", None),
            ("sync_binlog", "0", Some(("log_bin", "ON"))),
            (
                "query_cache_type",
                "DEMAND",
                Some(("query_cache_size", "1048576")),
            ),
            ("general_log", "ON", None),
            (
                "long_query_time",
                "0.000000",
                Some(("slow_query_log", "ON")),
            ),
        ] {
            let mut settings: Vec<_> = Vec::from_iter(more);
            settings.push((name, value));
            let rest = well
                .iter()
                .filter(|(n, _)| *n != name && more.is_none_or(|m| m.0 != *n));
            settings.extend(rest);
            let found = told(Engine::Mariadb, &settings);
            assert!(has(&found, name, CheckLevel::Warning), "{name}: {found:?}");
            assert_eq!(found.len(), 2, "{name}: {found:?}");
        }
    }

    #[test]
    fn so_is_a_postgres_and_a_sqlite() {
        let well = [("fsync", "on"), ("synchronous_commit", "local")];
        assert!(
            told(Engine::Postgres, &well)
                .iter()
                .all(|(_, l)| *l == CheckLevel::Ok)
        );
        for (name, value) in [
            ("fsync", "off"),
            ("synchronous_commit", "off"),
            ("full_page_writes", "off"),
            ("log_statement", "all"),
            ("log_min_duration_statement", "0"),
        ] {
            let found = told(Engine::Postgres, &[(name, value)]);
            assert!(has(&found, name, CheckLevel::Warning), "{name}: {found:?}");
        }
        let raft_log = "kv.raft_log.disable_synchronization_unsafe";
        let of = |value| told(Engine::Cockroach, &[(raft_log, value)]);
        assert!(has(&of("true"), raft_log, CheckLevel::Warning));
        assert!(has(&of("false"), "durability", CheckLevel::Ok));
        let direct = told(Engine::Mysql, &[("innodb_flush_method", "O_DIRECT")]);
        assert!(has(&direct, "durability", CheckLevel::Ok), "{direct:?}");
        let sqlite = |value| told(Engine::Sqlite, &[("synchronous", value)]);
        assert!(has(&sqlite("OFF"), "synchronous", CheckLevel::Warning));
        assert!(has(&sqlite("NORMAL"), "synchronous", CheckLevel::Note));
        assert_eq!(sqlite("FULL"), [("durability".to_string(), CheckLevel::Ok)]);
    }

    #[test]
    fn a_debug_build_is_told() {
        let level = |engine, version: &str, asserts| {
            let server = ServerInfo {
                engine,
                version: version.into(),
            };
            build(&server, asserts, Lang::En).map(|(_, level, _)| level)
        };
        let debug = level(Engine::Mariadb, "11.4.2-MariaDB-debug-log", false);
        assert_eq!(debug, Some(CheckLevel::Warning));
        assert_eq!(
            level(Engine::Mysql, "8.4.0-log", false),
            Some(CheckLevel::Ok)
        );
        assert_eq!(
            level(Engine::Postgres, "17.1", true),
            Some(CheckLevel::Warning)
        );
        assert_eq!(level(Engine::Sqlite, "3.46.0", false), None);
    }
}
