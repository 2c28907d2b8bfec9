//! Options that make the named workload an easier one.

use crate::run::Run;
use crate::texts::degenerate_option::{INSTEAD, MEASURED};
use crate::{AnalysisError, Figure, Finding, Severity};
use tidemark_core::Source;
use tidemark_core::record::{EffectiveOption, RunRecord};

pub(super) const ID: &str = "degenerate-option";

pub(super) fn check(run: &Run<'_>) -> Result<Option<Finding>, AnalysisError> {
    let record = run.record;
    let found = OPTIONS.iter().find_map(|(name, is_degenerate)| {
        let option = record.options.get(*name)?;
        // What nobody asked for is the workload itself.
        let is_asked = option.source != Source::Default;
        (is_asked && is_degenerate(record, option)).then_some((*name, option))
    });
    Ok(found.map(|(name, option)| Finding {
        rule: ID,
        severity: Severity::Note,
        says: MEASURED,
        instead: INSTEAD,
        figures: vec![
            ("option", Figure::Text(name.into())),
            ("value", Figure::Text(option.value.clone())),
        ],
    }))
}

type IsDegenerate = fn(&RunRecord, &EffectiveOption) -> bool;

/// By option: workloads that do not have it record none.
const OPTIONS: [(&str, IsDegenerate); 4] = [
    ("maxscanlength", |record, option| {
        let scans = crate::option(record, "scanproportion").and_then(|s| s.parse::<f64>().ok());
        option.value == "1" && scans.is_some_and(|s| s > 0.0)
    }),
    // The paper's workloads are skewed; their files say so, and the command denies it.
    ("requestdistribution", |record, option| {
        let mix = record.options.get("readproportion");
        let is_of_file = mix.is_some_and(|mix| mix.source == Source::ConfigFile);
        let is_command = option.source == Source::CommandLine;
        is_of_file && is_command && option.value == "uniform"
    }),
    ("range-selects", |record, option| {
        let has_ranges = ["oltp_read_only", "oltp_read_write"].contains(&record.workload.as_str());
        has_ranges && option.value == "off"
    }),
    ("skip-trx", |record, option| {
        let of_statements = ["oltp_read_only", "oltp_read_write", "oltp_write_only"];
        of_statements.contains(&record.workload.as_str()) && option.value == "on"
    }),
];
