//! `demo`: the main job on embedded SQLite, with nothing to set up.

use crate::args;
use crate::compat::sysbench;
use crate::exit::{ExitCode, Failure};
use crate::render::language;
use crate::texts::demo as texts;
use std::path::Path;
use tidemark_core::JobKind;
use tidemark_report::Lang;
use tidemark_store::from_json;

/// Says what the look at the tables after the run has found, as the record has it.
fn checked(record: &Path, lang: Lang) {
    let read = std::fs::read_to_string(record).ok();
    let Some(record) = read.and_then(|json| from_json(&json).ok()) else {
        return;
    };
    for table in &record.tables_after {
        let before = record.tables_before.iter().find(|b| b.table == table.table);
        // A transaction of this workload deletes a row and puts it back.
        let found = match before.map(|b| b.rows) {
            Some(rows) if rows == table.rows => texts::as_before(lang).into(),
            Some(rows) => texts::otherwise(lang, rows),
            None => continue,
        };
        say!(
            "\n{}",
            texts::checked(lang, &table.table, table.rows, found)
        );
    }
}

/// Loads a table, runs `oltp_read_write`, checks the data, and writes record and reports.
///
/// # Errors
/// [`Failure`] as of the steps; [`ExitCode::Refused`] when the demo's file is somebody else's.
pub fn demo(args: &[String], demo: &args::Demo) -> Result<ExitCode, Failure> {
    let dir = &demo.dir;
    std::fs::create_dir_all(dir)
        .map_err(|e| Failure::new(ExitCode::Failed, format!("{}: {e}", dir.display())))?;
    let path = |name: &str| dir.join(name).display().to_string();
    let mut options = vec![
        ("target", format!("sqlite:{}", path("demo.db"))),
        ("table-size", demo.rows.to_string()),
        ("time", demo.time.to_string()),
        ("lang", demo.lang.to_string()),
    ];
    if let Some(store) = &demo.store {
        options.push(("store", store.display().to_string()));
    }
    let with = |kind: JobKind, more: &[(&'static str, String)]| {
        sysbench::perform(kind, "oltp_read_write", &[&options, more].concat(), args)
    };
    let lang = language(&demo.lang);
    say!("{}\n", texts::begins(lang, dir.display()));
    let loaded = with(JobKind::Load, &[("replace", "on".into())])?;
    if loaded != ExitCode::Success {
        return Ok(loaded);
    }
    say!();
    let mut more = vec![
        ("threads", demo.threads.to_string()),
        // Who tries Tidemark should see it at work; its lines follow when the view ends.
        ("view", if demo.plain { "off" } else { "on" }.into()),
        ("report-interval", "1".into()),
        ("validate", "on".into()),
        ("out", path("record.json")),
        (
            "report",
            format!("{},{}", path("report.html"), path("summary.txt")),
        ),
    ];
    if demo.overwrite {
        more.push(("overwrite", "on".into()));
    }
    let code = with(JobKind::Run, &more)?;
    checked(Path::new(&path("record.json")), lang);
    if code == ExitCode::Success {
        say!(
            "\n{}\n  \
             tidemark sysbench oltp_read_write --target=mysql://user@127.0.0.1/sbtest prepare",
            texts::next(lang, path("report.html"))
        );
    }
    Ok(code)
}
