//! What was said of a run, and its record denies.

use super::common::{both_languages_use_the_figures, clean, found_in, only, rules};
use tidemark_analysis::{Figure, Severity};
use tidemark_core::record::{RunRecord, Setting};
use tidemark_core::series::{Measures, SeriesBuilder, SeriesKey};
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

#[test]
fn a_mode_that_the_server_does_not_have_is_told() {
    let modes = [
        ("tidb_txn_mode", "pessimistic"),
        ("tidb_partition_prune_mode", "dynamic"),
        ("innodb_default_row_format", "dynamic"),
    ];
    for (settings, tag, is_denied) in [
        (&modes[..], "static", true),
        (&modes[..], "pruning-static", true),
        (&modes[..], "Optimistic", true),
        (&modes[..], "静态裁剪", true),
        (&modes[..], "dynamic", false),
        (&modes[..], "pessimistic", false),
        // Both are compared, or it is another word.
        (&modes[..], "optimistic-vs-pessimistic", false),
        (&modes[..], "statics", false),
        // Nothing says which mode it has.
        (&modes[2..], "static", false),
        (&modes[..0], "optimistic", false),
    ] {
        let mut record = on(Engine::Tidb, settings);
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
fn a_buffer_that_the_counters_exceed_is_told() {
    let with = |settings: &[(&str, &str)], pages: f64| {
        let mut record = on(Engine::Mariadb, settings);
        let key = SeriesKey::new("server-status", "buffer.dirty", "pages", Measures::Gauge);
        let mut builder = SeriesBuilder::new(key, 0, 1000);
        for second in 0..20 {
            builder.push(second * 1000, pages);
        }
        record.series = vec![builder.series().unwrap()];
        record
    };
    // 8192 pages of 16 KiB are 128 MiB.
    let size = ("innodb_buffer_pool_size", "134217728");
    assert_eq!(rules(&with(&[size], 8000.0)), [""; 0]);
    let found = only(&with(&[size], 9000.0), "setting-contradicts");
    both_languages_use_the_figures(&found);
    assert_eq!(found.severity, Severity::Suspect);
    let small = ("innodb_page_size", "4096");
    assert_eq!(rules(&with(&[size, small], 9000.0)), [""; 0]);
    // Nothing states the size.
    assert_eq!(rules(&with(&[], 9000.0)), [""; 0]);
}

#[test]
fn a_heading_that_names_another_mode_than_the_document_sets_is_told() {
    let dynamic = "mysql> SET GLOBAL tidb_partition_prune_mode = 'dynamic';";
    for (heading, set, is_told) in [
        ("Static pruning", dynamic, true),
        ("静态裁剪", "| tidb_partition_prune_mode | dynamic |", true),
        ("Dynamic pruning", dynamic, false),
        ("Static and dynamic pruning", dynamic, false),
        ("Static pruning", "select 1;", false),
    ] {
        let text = format!(
            "# {heading}\n```\n{set}\n```\n```\nVuser 1:64 Active Virtual Users configured\n\
             Vuser 1:TEST RESULT : System achieved 302123 NOPM from 702911 MySQL TPM\n```\n"
        );
        let found = found_in(&text);
        let of_rule = found.iter().find(|f| f.rule == "setting-contradicts");
        assert_eq!(of_rule.is_some(), is_told, "{heading}: {found:?}");
        if let Some(told) = of_rule {
            both_languages_use_the_figures(told);
            assert_eq!(told.figure("line"), Some(&Figure::Count(3)));
        }
    }
}
