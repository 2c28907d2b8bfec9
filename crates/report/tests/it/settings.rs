//! What reports say of the servers' settings.

use super::common::many::{document, records};
use super::common::{Shape, run};
use tidemark_core::record::{RunRecord, Setting};
use tidemark_core::{Engine, ServerInfo};
use tidemark_diagnosis::Changes;
use tidemark_report::{Lang, comparison_markdown, comparison_text, html, markdown};

fn set(record: &mut RunRecord, engine: Engine, settings: &[(&str, &str, &str)]) {
    record.server = Some(ServerInfo {
        engine,
        version: "15.18".into(),
    });
    let setting = |(name, value, default): &(&str, &str, &str)| Setting {
        name: (*name).into(),
        value: (*value).into(),
        default: Some((*default).into()),
    };
    record.settings = settings.iter().map(setting).collect();
}

const POSTGRES: &[(&str, &str, &str)] = &[
    ("log_file_mode", "0600", "384"),
    ("fsync", "on", "on"),
    ("shared_buffers", "1GB", "128MB"),
];

#[test]
fn a_default_in_another_notation_is_left_out() {
    let mut record = run(&Shape::one_type());
    set(&mut record, Engine::Postgres, POSTGRES);
    for text in [html(&record, Lang::En), markdown(&record, Lang::Zh)] {
        let text = text.unwrap();
        assert!(
            !text.contains("file_mode") && !text.contains("file\\_mode"),
            "{text}"
        );
        assert!(text.contains("fsync") && text.contains("1GB"), "{text}");
    }
}

#[test]
fn settings_of_different_engines_stand_apart() {
    let factor = ("target", &[("one", 1.0), ("PostgreSQL", 1.2)][..]);
    let mut records = records(&["oltp_read_write"], &[2, 4], factor, 1, 6);
    for record in &mut records {
        match record.study.as_ref().unwrap().factors["target"] == "one" {
            true => set(record, Engine::Mariadb, &[("sync_binlog", "1", "0")]),
            false => set(record, Engine::Postgres, POSTGRES),
        }
    }
    let many = document("engines", &records);
    let text = many.markdown(Lang::En).unwrap();
    // A table for each, without a column for the other.
    assert!(
        text.contains("| Setting | MariaDB 15.18 | Default |\n"),
        "{text}"
    );
    assert!(
        text.contains("| Setting | PostgreSQL 15.18 | Default |\n"),
        "{text}"
    );
    assert!(text.contains("| sync\\_binlog | 1 | 0 |\n"), "{text}");
    assert!(!text.contains("log\\_file\\_mode"), "{text}");
    let said = "Database settings are not compared: the engines are different.";
    assert_eq!(text.matches(said).count(), 1, "{text}");
    assert!(!text.contains("setting sync"), "{text}");
    let zh = many.html(Lang::Zh).unwrap();
    assert!(zh.contains("数据库引擎不同，未比较数据库参数。"));

    let comparison = tidemark_analysis::compare(&records[..1], &records[2..3]).unwrap();
    assert_eq!(
        comparison_text(&comparison, &Changes::default(), &[], Lang::En)
            .matches(said)
            .count(),
        1
    );
    assert_eq!(
        comparison_markdown(&comparison, &Changes::default(), &[], Lang::En)
            .matches(said)
            .count(),
        1
    );
    let alike = tidemark_analysis::compare(&records[..1], &records[1..2]).unwrap();
    assert!(!comparison_text(&alike, &Changes::default(), &[], Lang::En).contains(said));
}

#[test]
fn settings_have_units_and_those_that_differ_stand_first() {
    let factor = ("pool", &[("small", 1.0), ("large", 1.2)][..]);
    let mut records = records(&["oltp_read_write"], &[4], factor, 2, 6);
    for record in &mut records {
        let small = record.study.as_ref().unwrap().factors["pool"] == "small";
        let pool = if small { "134217728" } else { "8589934592" };
        let mut settings = vec![
            ("innodb_buffer_pool_size", pool, "134217728"),
            ("datadir", "/var/lib/mysql", "/usr/data"),
        ];
        let others: Vec<String> = (0..20).map(|n| format!("other_{n}")).collect();
        settings.extend(others.iter().map(|name| (name.as_str(), "1", "0")));
        set(record, Engine::Mariadb, &settings);
    }
    let many = document("pool", &records);
    let text = many.markdown(Lang::En).unwrap();
    let heading = "### Settings that differ between the runs\n";
    let (_, behind) = text.split_once(heading).unwrap_or_else(|| panic!("{text}"));
    let table = behind.trim().split("\n\n").next().unwrap();
    assert_eq!(table.lines().count(), 3, "{table}");
    assert!(
        table.contains(r"| innodb\_buffer\_pool\_size | 128 MiB \| 8 GiB | 128 MiB |"),
        "{table}"
    );
    assert!(
        !text.contains("datadir") && !text.contains("134217728"),
        "{text}"
    );
    assert!(
        text.contains("1 setting is left out: places of files"),
        "{text}"
    );
    // So do those of a comparison.
    assert!(
        text.contains(r"| setting innodb\_buffer\_pool\_size | 8 GiB | 128 MiB |"),
        "{text}"
    );
    let page = many.html(Lang::Zh).unwrap();
    assert!(
        page.contains("各次压测之间不同的参数") && page.contains("（20）"),
        "{page}"
    );
}

#[test]
fn settings_at_their_defaults_stand_last_and_folded() {
    let mut record = run(&Shape::one_type());
    set(&mut record, Engine::Postgres, POSTGRES);
    record.settings.push(Setting {
        name: "wal_level".into(),
        value: "replica".into(),
        default: None,
    });
    let records = records(&["oltp_read_write"], &[4], ("x", &[("y", 1.0)]), 2, 6);
    let records = records.into_iter().map(|mut one| {
        one.server = record.server.clone();
        one.settings = record.settings.clone();
        one
    });
    let many = document("defaults", &records.collect::<Vec<_>>());
    let of_many = many.markdown(Lang::En).unwrap();
    let (before, behind) = of_many
        .split_once("Important settings at their defaults (1)\n")
        .unwrap_or_else(|| panic!("{of_many}"));
    // One whose default is not known is among those that are not.
    for name in ["shared\\_buffers", "wal\\_level"] {
        let row = format!("| {name} | ");
        assert!(
            before.contains(&row) && !behind.contains(&row),
            "{name}: {of_many}"
        );
    }
    assert!(behind.contains("\n| fsync | on |\n"), "{of_many}");
    assert!(!before.contains("| fsync | on |"), "{of_many}");
    let page = html(&record, Lang::En).unwrap();
    let (before, behind) = page
        .split_once("<summary>At their defaults (1)</summary>")
        .unwrap_or_else(|| panic!("{page}"));
    assert!(before.contains("<code>shared_buffers</code>"), "{page}");
    assert!(behind.contains("<code>fsync</code>") && !before.contains("<code>fsync</code>"));
}

#[test]
fn where_a_server_ran_is_told_where_it_is_known() {
    let told = |target: &str| {
        let mut records = records(&["oltp_read_write"], &[4], ("x", &[("y", 1.0)]), 1, 6);
        records[0].target = target.into();
        document("one", &records).markdown(Lang::En).unwrap()
    };
    let here = "The servers ran on the client host.";
    let elsewhere = "Tidemark does not know the hardware of the server hosts.";
    let near = told("mysql://u:***@127.0.0.1:3306/db");
    assert!(near.contains(here) && !near.contains(elsewhere), "{near}");
    let far = told("mysql://u:***@10.0.3.11:3306/db");
    assert!(far.contains(elsewhere) && !far.contains(here), "{far}");
}
