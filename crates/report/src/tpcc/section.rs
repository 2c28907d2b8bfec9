//! TPC-C's results in words, the same in every form of report and after a run.

use super::figures::{
    LimitVerdict, NoEfficiency, SETTLE_S, TERMINALS_PER_WAREHOUSE, TpccResults, TypeFigures,
};
use super::texts::{self, Texts};
use crate::ReportError;
use crate::digest::Digest;
use crate::load::option;
use crate::number::{percent, three, whole};
use crate::report_table::ReportTable;
use crate::section::WorkloadSection;
use crate::texts::{Lang, fill};
use tidemark_core::record::RunRecord;

/// The results as text, for after the lines of a run; empty for one that is not TPC-C.
///
/// # Errors
/// [`ReportError::Histogram`].
pub fn results(record: &RunRecord, lang: Lang) -> Result<String, ReportError> {
    let digest = Digest::of(record)?;
    Ok(section(&digest, lang).map_or_else(String::new, |s| s.text(lang)))
}

/// `None` for a run that is not TPC-C.
pub(crate) fn section(digest: &Digest<'_>, lang: Lang) -> Option<WorkloadSection> {
    let figures = TpccResults::of_digest(digest)?;
    let t = texts::of(lang);
    Some(WorkloadSection {
        title: t.title,
        sentences: verdict_of_all(&figures, t, lang)
            .into_iter()
            .chain([t.not_audited.into()])
            .collect(),
        facts: facts(&figures, digest, t),
        types: types(&figures, t),
        texts: Vec::new(),
    })
}

fn facts(f: &TpccResults, digest: &Digest<'_>, t: &'static Texts) -> Vec<(&'static str, String)> {
    let mut facts = vec![
        (t.tpmc, fill(t.tpmc_says, &[("tpmc", &one_digit(f.tpmc))])),
        (
            t.tpm_total,
            fill(t.tpm_total_says, &[("tpm", &one_digit(f.tpm_total))]),
        ),
        (t.efficiency, efficiency(f, t)),
        (
            t.scale,
            fill(
                t.scale_says,
                &[
                    ("warehouses", &whole(f.warehouses)),
                    ("terminals", &whole(f.terminals)),
                    (
                        "ten",
                        &whole(f.warehouses.saturating_mul(TERMINALS_PER_WAREHOUSE)),
                    ),
                ],
            ),
        ),
        (t.waits, waits(f, t)),
        (
            t.isolation,
            match option(digest.record, "isolation") {
                None | Some("default") => match digest.record.isolation {
                    Some(level) => fill(t.isolation_known, &[("level", level.name())]),
                    None => t.isolation_default.into(),
                },
                Some(level) => level.into(),
            },
        ),
    ];
    for (name, template, noted) in [
        (t.rolled_back, t.rolled_back_says, f.rolled_back),
        (t.remote_payment, t.remote_payment_says, f.remote_payment),
        (t.remote_line, t.remote_line_says, f.remote_line),
        (t.by_last_name, t.by_last_name_says, f.by_last_name),
    ] {
        // Of a single warehouse nothing is remote.
        let remote = [t.remote_payment, t.remote_line].contains(&name);
        if let Some((count, share)) = noted.filter(|_| !remote || f.warehouses > 1) {
            let values = [
                ("count", &*whole(count)),
                ("share", &*format!("{share:.2}")),
            ];
            facts.push((name, fill(template, &values)));
        }
    }
    if let Some(skipped) = f.delivery_skipped {
        let said = fill(t.skipped_says, &[("count", &whole(skipped))]);
        facts.push((t.skipped, said));
    }
    let retried = digest.totals.ignored_errors;
    let attempts = digest.all.count.saturating_add(retried);
    let values = [
        ("count", &*whole(retried)),
        ("share", &*percent(retried as f64, attempts as f64)),
    ];
    facts.push((t.retried, fill(t.retried_says, &values)));
    if let Some((price, each)) = &f.price {
        let (amount, currency) = (three(price.amount), price.currency.as_str());
        let amount = if price.amount >= 1000.0 {
            whole(price.amount.round() as u64)
        } else {
            amount
        };
        let said = match each {
            Some(each) => fill(
                t.price_says,
                &[
                    ("each", &three(*each)),
                    ("amount", &amount),
                    ("currency", currency),
                ],
            ),
            None => fill(t.price_none, &[("amount", &amount), ("currency", currency)]),
        };
        facts.push((t.price, said));
    }
    facts
}

/// With one digit after the point, thousands separated, as people compare tpmC.
fn one_digit(value: f64) -> String {
    let text = format!("{value:.1}");
    match text.split_once('.') {
        Some((whole_part, rest)) => {
            let digits = whole_part.parse().map_or(whole_part.into(), whole);
            format!("{digits}.{rest}")
        }
        None => text,
    }
}

fn efficiency(f: &TpccResults, t: &Texts) -> String {
    match f.efficiency {
        Ok(percent) => {
            let (says, settle) = match f.has_settled {
                true => (t.efficiency_says, String::new()),
                false => (t.efficiency_unsettled, SETTLE_S.to_string()),
            };
            let percent = format!("{percent:.1}");
            fill(says, &[("percent", &percent), ("settle", &settle)])
        }
        Err(NoEfficiency::NoThinkTimes) => t.efficiency_no_waits.into(),
        Err(NoEfficiency::Scaled(scale)) => {
            fill(t.efficiency_scaled, &[("scale", &scale.to_string())])
        }
        Err(NoEfficiency::OnlyOne) => t.efficiency_only_one.into(),
        Err(NoEfficiency::Schedule) => t.efficiency_schedule.into(),
        Err(NoEfficiency::NoWarehouses) => t.efficiency_no_warehouses.into(),
        Err(NoEfficiency::TooManyTerminals) => t.efficiency_too_many_terminals.into(),
        Err(NoEfficiency::Mix) => t.efficiency_mix.into(),
    }
}

fn waits(f: &TpccResults, t: &Texts) -> String {
    if f.efficiency == Err(NoEfficiency::OnlyOne) {
        return t.waits_only_one.into();
    }
    match f.waits {
        0.0 => t.waits_off.into(),
        1.0 => t.waits_on.into(),
        scale => fill(t.waits_scaled, &[("scale", &scale.to_string())]),
    }
}

fn verdict(of: &TypeFigures, t: &Texts) -> String {
    let broken: Vec<&str> = [
        (of.quick_enough != LimitVerdict::No, t.too_slow),
        (of.often_enough(), t.too_few),
    ]
    .into_iter()
    .filter_map(|(kept, word)| (!kept).then_some(word))
    .collect();
    if !broken.is_empty() {
        broken.join(t.gap)
    } else if is_untold(of) {
        t.untold.into()
    } else {
        t.met.into()
    }
}

/// Whether a type's transactions are too few to tell whether its limits were met.
fn is_untold(of: &TypeFigures) -> bool {
    of.quick_enough == LimitVerdict::TooFew || of.too_few_for_shares()
}

/// `None` when there was nothing to judge.
fn verdict_of_all(f: &TpccResults, t: &Texts, lang: Lang) -> Option<String> {
    if f.types.is_empty() {
        return None;
    }
    let is_broken = |of: &&TypeFigures| of.quick_enough == LimitVerdict::No || !of.often_enough();
    let broken = f.types.iter().filter(is_broken).map(|of| {
        let verdict = verdict(of, t);
        fill(t.broken_type, &[("type", of.name), ("verdict", &verdict)])
    });
    let broken: Vec<String> = broken.collect();
    let untold = f.types.iter().filter(|of| !is_broken(of) && is_untold(of));
    let untold: Vec<&str> = untold.map(|of| of.name).collect();
    let mut said = Vec::new();
    if !broken.is_empty() {
        said.push(fill(t.broken, &[("types", &broken.join(t.comma))]));
    }
    if !untold.is_empty() {
        said.push(fill(t.untold_types, &[("types", &untold.join(t.comma))]));
    }
    Some(match said.is_empty() {
        true => t.all_met.into(),
        false => said.join(lang.texts().gap),
    })
}

fn types(f: &TpccResults, t: &'static Texts) -> ReportTable {
    let share = |percent: Option<f64>| percent.map_or("–".into(), |p| format!("{p:.2}%"));
    let row = |of: &TypeFigures| {
        let [p50, p90, p95, p99, max] = of.percentiles_ms;
        let mut row = vec![
            of.name.into(),
            whole(of.count),
            share(of.share),
            share(of.least_share),
        ];
        let times = [of.mean_ms, p50, p90, p95, p99, max];
        row.extend(times.map(|ms| {
            if of.count == 0 {
                "–".into()
            } else {
                three(ms)
            }
        }));
        row.extend([of.limit_s.to_string(), verdict(of, t)]);
        row
    };
    ReportTable {
        title: t.types,
        says: String::new(),
        head: vec![
            t.transaction_type,
            t.count,
            t.share,
            t.least,
            t.mean,
            t.p50,
            t.p90,
            t.p95,
            t.p99,
            t.max,
            t.limit,
            t.verdict,
        ],
        rows: f.types.iter().map(row).collect(),
        numbers: 10,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tpmc_keeps_a_digit_after_the_point() {
        for (value, text) in [(0.0, "0.0"), (12.86, "12.9"), (1_234_567.04, "1,234,567.0")] {
            assert_eq!(one_digit(value), text);
        }
    }
}
