//! What was said of a run, and its record denies.

use super::common::{both_languages_use_the_figures, clean, only, rules};
use tidemark_analysis::Severity;
use tidemark_core::record::{RunRecord, Setting};
use tidemark_core::{Engine, ServerInfo};

fn on(engine: Engine, settings: &[(&str, &str)]) -> RunRecord {
    let mut record = clean();
    record.server = Some(ServerInfo {
        engine,
        version: "1".into(),
    });
    record.settings = settings
        .iter()
        .map(|(name, value)| Setting {
            name: (*name).into(),
            value: (*value).into(),
            default: None,
        })
        .collect();
    record
}

#[test]
fn a_tag_that_the_servers_settings_deny_is_told() {
    let mariadb = [
        ("innodb_buffer_pool_size", "134217728"),
        ("sync_binlog", "0"),
        ("log_bin", "OFF"),
    ];
    let postgres = [("shared_buffers", "128MB"), ("fsync", "on")];
    for (engine, settings, tag, is_denied) in [
        (
            Engine::Mariadb,
            &mariadb[..],
            "innodb_buffer_pool_size=4G",
            true,
        ),
        (
            Engine::Mariadb,
            &mariadb[..],
            "innodb_buffer_pool_size=128M",
            false,
        ),
        // It rounds up to whole chunks.
        (
            Engine::Mariadb,
            &mariadb[..],
            "innodb-buffer-pool-size=100M",
            false,
        ),
        (Engine::Mariadb, &mariadb[..], "sync_binlog=1", true),
        (Engine::Mariadb, &mariadb[..], "log_bin=0", false),
        (Engine::Mariadb, &mariadb[..], "sync_binlog=on", true),
        (Engine::Mariadb, &mariadb[..], "sync_binlog=off", false),
        // A label of the user's.
        (Engine::Mariadb, &mariadb[..], "sync_binlog=safe", false),
        (Engine::Mariadb, &mariadb[..], "unknown=1", false),
        (Engine::Postgres, &postgres[..], "shared_buffers=8GB", true),
        // Pages of 8 kB.
        (
            Engine::Postgres,
            &postgres[..],
            "shared_buffers=16384",
            false,
        ),
        (Engine::Postgres, &postgres[..], "fsync=off", true),
        (Engine::Postgres, &postgres[..], "fsync=true", false),
    ] {
        let mut record = on(engine, settings);
        record.tags = vec![tag.into()];
        match is_denied {
            true => {
                let found = only(&record, "setting-contradicts");
                both_languages_use_the_figures(&found);
                assert_eq!(found.severity, Severity::Suspect, "{tag}");
            }
            false => assert_eq!(rules(&record), [""; 0], "{tag}"),
        }
    }
}

#[test]
fn sessions_that_a_note_states_and_the_run_had_not_are_told() {
    let mut record = clean();
    record.note = "threads=64, after the upgrade".into();
    let found = only(&record, "setting-contradicts");
    assert_eq!(found.severity, Severity::Note);
    record.note = "threads=8, after the upgrade".into();
    assert_eq!(rules(&record), [""; 0]);
}
