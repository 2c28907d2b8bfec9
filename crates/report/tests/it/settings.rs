//! What reports say of the servers' settings.

use super::common::many::{document, records};
use super::common::{Shape, run};
use tidemark_core::record::{RunRecord, Setting};
use tidemark_core::{Engine, ServerInfo};
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
        comparison_text(&comparison, &[], Lang::En)
            .matches(said)
            .count(),
        1
    );
    assert_eq!(
        comparison_markdown(&comparison, &[], Lang::En)
            .matches(said)
            .count(),
        1
    );
    let alike = tidemark_analysis::compare(&records[..1], &records[1..2]).unwrap();
    assert!(!comparison_text(&alike, &[], Lang::En).contains(said));
}
