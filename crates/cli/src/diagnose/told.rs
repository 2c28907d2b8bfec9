//! What a diagnosis prints: a table of measured changes, the verdict, and the same as JSON.

use super::battery::BatteryResult;
use super::changes::Why;
use crate::columns::{left, right, widest};
use crate::messages;
use crate::texts::diagnose as texts;
use serde_json::json;
use std::time::Duration;
use tidemark_analysis::experiments::{
    Class, Confidence, Experiment, ExperimentVerdict, HostCpu, Proof, ProvenCause, distance_share,
};
use tidemark_core::record::{Experiments, MeasuredChange, SkippedChange};
use tidemark_core::{Job, printable};
pub use tidemark_report::experiment_name as name;
use tidemark_report::{Lang, percent_change, sentence_and_confidence, significant};
use tidemark_stats::Ratio;

/// Says something that is not the result.
pub fn aside(text: &str) {
    eprintln!("tidemark: {text}");
}

/// Before the first run.
pub fn begins(job: &Job, only_reads: bool, budget: Duration, id: &str, lang: Lang) {
    aside(&texts::begins(
        lang,
        &job.workload.name,
        printable(&job.target.url),
        job.load.terminals,
        tidemark_study::time_text(budget),
        id,
    ));
    if !only_reads {
        aside(texts::changes_rows(lang));
    }
}

/// After a pair of runs.
pub fn pair(name: &str, pairs: usize, so_far: Option<Ratio>, lang: Lang) {
    let said = so_far.map_or_else(|| "…".into(), |of| interval(&of));
    aside(&texts::pair(lang, name, pairs, said));
}

/// The result for people.
pub fn text(found: &BatteryResult, lang: Lang) -> String {
    let baseline = &found.baseline;
    let mut out = texts::baseline(
        lang,
        baseline.sessions,
        significant(baseline.rate),
        significant(baseline.mean_ms),
        format!("{:.0}", baseline.client_use * 100.0),
    );
    if let Some(ping) = baseline.ping_ms {
        out += &texts::ping(lang, significant(ping));
    }
    if found.injected_ms > 0.0 {
        out += &texts::injected(lang, significant(found.injected_ms));
    }
    out += "\n\n";
    let heads = [
        texts::experiment(lang),
        texts::throughput(lang),
        texts::interval(lang),
        texts::pairs(lang),
    ];
    let name = |experiment: Experiment| name(experiment, baseline.later_ms, lang);
    let names: Vec<String> = found.experiments.iter().map(|(e, ..)| name(*e)).collect();
    let first = widest(names.iter().map(String::as_str).chain([heads[0]]));
    let row = |cells: [&str; 4]| {
        let line = format!(
            "{}  {}  {}  {}",
            left(cells[0], first),
            right(cells[1], widest([heads[1]]).max(8)),
            right(cells[2], 14),
            right(cells[3], widest([heads[3]])),
        );
        format!("{}\n", line.trim_end())
    };
    if !found.experiments.is_empty() {
        out += &row(heads);
    }
    for (experiment, of, pairs) in &found.experiments {
        out += &row([
            &name(*experiment),
            &percent(of.ratio),
            &ends(of),
            &pairs.to_string(),
        ]);
    }
    if !found.skipped.is_empty() {
        out += &format!("\n{}\n", texts::not_made(lang));
    }
    for (experiment, why) in &found.skipped {
        let why = printable(&reason(why, lang)).into_owned();
        out += &format!("  {}\n", texts::skipped(lang, name(*experiment), why));
    }
    let verdict = &found.verdict;
    let (how_sure, cause) = (confidence(verdict.confidence), verdict.cause());
    let said = sentence_and_confidence(&sentence(found, lang), how_sure, cause, lang);
    out += &format!("\n{said}\n");
    let also = also(verdict, lang);
    if !also.is_empty() {
        out += &format!("{}\n", texts::also(lang, also.join(texts::comma(lang))));
    }
    let out_ruled: Vec<&str> = found
        .verdict
        .rules_out
        .iter()
        .map(|c| class(*c, lang))
        .collect();
    if !out_ruled.is_empty() {
        out += &format!(
            "{}\n",
            texts::rules_out(lang, out_ruled.join(texts::comma(lang)))
        );
    }
    out + &format!("{}\n", texts::runs(lang, &found.id))
}

/// The result as data.
pub fn json(found: &BatteryResult, lang: Lang) -> String {
    let experiment = |(experiment, of, pairs): &(Experiment, Ratio, usize)| {
        json!({
            "experiment": experiment.id(),
            "ratio": of.ratio,
            "low": of.low,
            "high": of.high,
            "pairs": pairs,
        })
    };
    let skipped = |(experiment, why): &(Experiment, Why)| {
        json!({
            "experiment": experiment.id(),
            "reason": reason(why, lang),
        })
    };
    let verdict = &found.verdict;
    let shown = |class: &ProvenCause| json!({"cause": class.cause(), "class": class.class.id(), "gain": class.gain});
    let baseline = &found.baseline;
    let value = json!({
        "id": found.id,
        "baseline": {
            "sessions": baseline.sessions,
            "transactions_per_s": baseline.rate,
            "mean_ms": baseline.mean_ms,
            "round_trips": baseline.round_trips,
            "ping_ms": baseline.ping_ms,
            "ping_under_load_ms": baseline.loaded_ping_ms,
            "share_without_transactions": baseline.still,
            "client_use": baseline.client_use,
            "host_busy": baseline.host.map(|host| host.busy),
            "host_busy_before": baseline.host.map(|host| host.before),
            "later_ms": baseline.later_ms,
        },
        "experiments": found.experiments.iter().map(experiment).collect::<Vec<_>>(),
        "skipped": found.skipped.iter().map(skipped).collect::<Vec<_>>(),
        "verdict": verdict.cause(),
        "class": verdict.class.id(),
        "confidence": confidence(verdict.confidence),
        "sentence": sentence(found, lang),
        "shown": verdict.shown.iter().map(shown).collect::<Vec<_>>(),
        "rules_out": verdict.rules_out.iter().map(|class| class.cause()).collect::<Vec<_>>(),
        "interrupted": found.interrupted,
        "ended_by": found.ended_by.as_ref().map(|failure| &failure.message),
    });
    // A value of these parts is always text.
    format!("{value:#}\n")
}

/// The result as a record has it.
pub fn record(found: &BatteryResult) -> Experiments {
    let verdict = &found.verdict;
    let is_finite = |of: &Ratio| of.ratio.is_finite() && of.low.is_finite();
    let measured = found.experiments.iter();
    let measured = measured.filter(|(_, of, _)| is_finite(of));
    let measured = measured.map(|(experiment, of, pairs)| MeasuredChange {
        experiment: experiment.id().into(),
        ratio: of.ratio,
        low: of.low,
        high: Some(of.high).filter(|high| high.is_finite()),
        pairs: *pairs,
    });
    let skipped = found.skipped.iter();
    let skipped = skipped.map(|(experiment, why)| SkippedChange {
        experiment: experiment.id().into(),
        reason: reason(why, Lang::En),
        reason_zh: reason(why, Lang::Zh),
    });
    let rules_out = verdict.rules_out.iter();
    Experiments {
        id: found.id.clone(),
        sessions: found.baseline.sessions,
        transactions_per_s: found.baseline.rate,
        ping_ms: found.baseline.ping_ms,
        later_ms: found.baseline.later_ms,
        measured: measured.collect(),
        skipped: skipped.collect(),
        verdict: verdict.cause().into(),
        confidence: confidence(verdict.confidence).into(),
        sentence: sentence(found, Lang::En),
        sentence_zh: sentence(found, Lang::Zh),
        rules_out: rules_out.map(|class| class.cause().to_string()).collect(),
        interrupted: found.interrupted,
    }
}

fn confidence(of: Confidence) -> &'static str {
    match of {
        Confidence::High => "high",
        Confidence::Medium => "medium",
        Confidence::Low => "low",
    }
}

/// What else was shown, each once, with what throughput gains without it.
fn also(verdict: &ExperimentVerdict, lang: Lang) -> Vec<String> {
    let mut named: Vec<&str> = verdict
        .shown
        .first()
        .map(|s| shown(s, lang))
        .into_iter()
        .collect();
    let mut also = Vec::new();
    for cause in verdict.shown.iter().skip(1) {
        let name = shown(cause, lang);
        if !named.contains(&name) {
            named.push(name);
            also.push(
                match cause.gain.filter(|_| cause.class != Class::Distance) {
                    Some(gain) => texts::also_gain(lang, name, percent(gain)),
                    None => name.into(),
                },
            );
        }
    }
    also
}

fn shown(cause: &ProvenCause, lang: Lang) -> &'static str {
    match cause.proof {
        Proof::Experiment => class(cause.class, lang),
        Proof::Neighbours => texts::class_neighbours(lang),
        Proof::NoCpu => texts::class_no_cpu(lang),
        Proof::LockedOut => texts::class_lock(lang),
    }
}

/// The verdict in a sentence, which says where it is of a part of the experiments only.
fn sentence(found: &BatteryResult, lang: Lang) -> String {
    let said = verdict(found, lang);
    match (found.interrupted, &found.ended_by) {
        (true, _) => texts::of_part(lang, texts::interrupted(lang), said),
        (false, Some(_)) => texts::of_part(lang, texts::baseline_failed(lang), said),
        (false, None) => said,
    }
}

fn verdict(found: &BatteryResult, lang: Lang) -> String {
    let verdict = &found.verdict;
    let of = |wanted| change_of(found, wanted);
    let name = |experiment: &Experiment| name(*experiment, found.baseline.later_ms, lang);
    let was = |wanted: Experiment| found.experiments.iter().any(|(e, ..)| *e == wanted);
    let client = verdict.shown.iter().any(|s| s.class == Class::Client);
    let share = |of: f64| format!("{:.0}", of * 100.0);
    let ms = |of: Option<f64>| significant(of.unwrap_or_default());
    let (alone, beside) = (found.baseline.ping_ms, found.baseline.loaded_ping_ms);
    match verdict.class {
        Class::Client if client => texts::client(lang, of(Experiment::SecondClient)),
        Class::Client => texts::client_cpu(lang, share(found.baseline.client_use)),
        Class::Distance => {
            let of_latency = distance_share(&found.baseline).unwrap_or_default();
            let said = texts::distance(
                lang,
                ms(alone),
                significant(found.baseline.round_trips),
                share(of_latency),
            );
            let later = significant(found.baseline.later_ms);
            // Only what lies on one side of nothing says something.
            let is_less = |e| ratio_of(found, e).is_some_and(|of| of.high < 1.0);
            let is_more = |e| ratio_of(found, e).is_some_and(|of| of.low > 1.0);
            let moves = is_less(Experiment::Rtt)
                .then(|| texts::distance_moves(lang, later, of(Experiment::Rtt)));
            // Both are true of whoever waits for round trips.
            let follows = is_more(Experiment::SessionsTwice);
            let follows =
                follows.then(|| texts::distance_sessions(lang, of(Experiment::SessionsTwice)));
            let injected = (found.injected_ms > 0.0)
                .then(|| texts::distance_injected(lang, significant(found.injected_ms)));
            let more = [injected, moves, follows];
            more.into_iter()
                .flatten()
                .fold(said, |said, more| said + &more)
        }
        Class::Sessions => {
            let said = texts::sessions(lang, of(Experiment::SessionsTwice));
            let of_server = verdict
                .open
                .iter()
                .filter(|e| e.tells_what_sessions_wait_for());
            let unknown: Vec<String> = of_server.map(name).collect();
            match unknown.is_empty() {
                true => said,
                false => {
                    let open = unknown.join(texts::comma(lang));
                    said + &texts::sessions_open(lang, open)
                }
            }
        }
        Class::Contention if verdict.proof() == Proof::LockedOut => {
            let still = found.baseline.still.unwrap_or_default();
            let said = texts::locked_out(lang, share(still), ms(beside));
            match was(Experiment::OnePercent) {
                true => said + texts::locked_out_of_few(lang),
                false => said,
            }
        }
        Class::Contention if was(Experiment::DisjointKeys) => {
            texts::contention(lang, of(Experiment::DisjointKeys))
        }
        Class::Contention => {
            let sessions = found.baseline.sessions;
            texts::crowded(lang, sessions, of(Experiment::SessionsTwice))
        }
        Class::Log if was(Experiment::NoCommitWait) => {
            let said = texts::log(lang, of(Experiment::NoCommitWait));
            // SQLite has one writer at a time, which holds its lock until the log is written.
            match found.is_embedded && found.baseline.sessions > 1 {
                true => said + texts::log_of_one_writer(lang),
                false => said,
            }
        }
        Class::Log => texts::rollback(lang, of(Experiment::Rollback)),
        Class::Cache if found.baseline.writes => {
            texts::cache_or_writes(lang, of(Experiment::OnePercent))
        }
        Class::Cache => texts::cache(lang, of(Experiment::OnePercent)),
        Class::Cpu if verdict.proof() == Proof::Neighbours => {
            let before = found.baseline.host.map_or(0.0, |host| host.before);
            texts::neighbours(lang, share(before))
        }
        Class::Cpu if verdict.proof() == Proof::NoCpu => {
            let busy = found.baseline.host.map_or(0.0, |host| host.busy);
            texts::no_cpu(lang, ms(beside), ms(alone), share(busy))
        }
        Class::Cpu => {
            let twice = of(Experiment::SessionsTwice);
            let is_guess = verdict.confidence == Confidence::Low && !verdict.open.is_empty();
            match found.baseline.host.filter(HostCpu::is_full_of_server) {
                Some(host) if is_guess => {
                    texts::cpu_guess(lang, share(host.busy), open_of(found, lang))
                }
                Some(host) => texts::cpu(lang, share(host.busy), share(host.client), twice),
                None => texts::cpu_by_exclusion(lang, twice),
            }
        }
        Class::None => {
            let said = nothing_proven(found, lang);
            let unsteady = found.unsteady.map(|(lowest, highest)| {
                texts::unsteady(lang, significant(lowest), significant(highest))
            });
            said + &unsteady.unwrap_or_default()
        }
    }
}

/// Why nothing is proven.
fn nothing_proven(found: &BatteryResult, lang: Lang) -> String {
    let verdict = &found.verdict;
    if verdict.is_retrograde {
        return texts::retrograde(lang, change_of(found, Experiment::SessionsTwice));
    }
    if verdict.open.is_empty() {
        return texts::none(lang).into();
    }
    let needs_time = |e: &Experiment| {
        let skipped = found.skipped.iter().find(|(of, _)| of == e);
        skipped.is_none_or(|(_, why)| why.is_of_time())
    };
    // Who ended it knows that there was time.
    let is_whole = !found.interrupted && found.ended_by.is_none();
    let more_time = match is_whole && verdict.open.iter().any(needs_time) {
        true => texts::more_time(lang),
        false => "",
    };
    texts::not_enough(lang, open_of(found, lang)) + more_time
}

/// What could tell more, by its names.
fn open_of(found: &BatteryResult, lang: Lang) -> String {
    let open = found.verdict.open.iter();
    let names: Vec<String> = open
        .map(|e| name(*e, found.baseline.later_ms, lang))
        .collect();
    names.join(texts::comma(lang))
}

fn ratio_of(found: &BatteryResult, wanted: Experiment) -> Option<&Ratio> {
    let measured = found.experiments.iter().find(|(e, ..)| *e == wanted);
    measured.map(|(_, of, _)| of)
}

/// What an experiment changed, with its interval.
fn change_of(found: &BatteryResult, wanted: Experiment) -> String {
    ratio_of(found, wanted).map_or_else(|| "?".into(), interval)
}

/// `+2 % (−1…+5)`.
fn interval(of: &Ratio) -> String {
    format!("{} ({})", percent(of.ratio), ends(of))
}

fn ends(of: &Ratio) -> String {
    format!("{}…{}", percent_change(of.low), percent_change(of.high))
}

fn percent(ratio: f64) -> String {
    format!("{} %", percent_change(ratio))
}

fn class(class: Class, lang: Lang) -> &'static str {
    match class {
        Class::Client => texts::class_client(lang),
        Class::Distance => texts::class_distance(lang),
        Class::Sessions => texts::class_sessions(lang),
        Class::Contention => texts::class_contention(lang),
        Class::Log => texts::class_log(lang),
        Class::Cache => texts::class_cache(lang),
        Class::Cpu => texts::class_cpu(lang),
        Class::None => "",
    }
}

fn reason(why: &Why, lang: Lang) -> String {
    match why {
        Why::OnlyReads => texts::only_reads(lang).into(),
        Why::OneSession => texts::one_session(lang).into(),
        Why::SeveralClients => texts::several_clients(lang).into(),
        Why::FewerSessionsThanClients(clients) => texts::fewer_than_clients(lang, clients),
        Why::Embedded => texts::embedded(lang).into(),
        Why::NoSwitch => texts::no_switch(lang).into(),
        Why::FewRows(rows) => texts::few_rows(lang, rows),
        Why::FewerRowsThanSessions => texts::fewer_rows(lang).into(),
        Why::NoWait => texts::no_wait(lang).into(),
        Why::NoSetting => texts::no_setting(lang).into(),
        Why::Permission => texts::permission(lang).into(),
        Why::Sessions { opened, wanted } => texts::sessions_not_opened(lang, opened, wanted),
        Why::Apart(seconds) => texts::clients_apart(lang, significant(*seconds)),
        Why::Budget => texts::budget(lang).into(),
        Why::Interrupted => texts::interrupted(lang).into(),
        Why::BaselineFailed => texts::baseline_failed(lang).into(),
        Why::Failed(said) => messages::reason(said, lang).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_percent_with_their_interval() {
        let of = |ratio, low, high| interval(&Ratio { ratio, low, high });
        assert_eq!(of(1.02, 0.99, 1.05), "+2 % (−1…+5)");
        assert_eq!(of(1.61, 1.55, 1.68), "+61 % (+55…+68)");
        assert_eq!(of(1.0, 0.0, f64::INFINITY), "0 % (−100…∞)");
    }
}
