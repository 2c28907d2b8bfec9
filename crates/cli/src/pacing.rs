//! From options to what lets a transaction start: terminals that think, a schedule, a search.

use crate::exit::Failure;
use std::time::Duration;
use tidemark_core::{
    Arrivals, FindMax, Objective, OptionValues, Pacing, RateStep, Rates, RunSpec, Source, ThinkTime,
};

/// Options that only mean something beside another, the test whether it is there, and what to add.
type Companion = (
    &'static [&'static str],
    fn(&OptionValues) -> bool,
    &'static str,
);

const COMPANIONS: &[Companion] = &[
    (
        &["rate-hold"],
        |o| matches!(rates(o), Rates::Steps(_)),
        "steps of --rate; for example --rate=1000..20000:1000",
    ),
    (
        &["find-from", "find-hold", "find-confirm", "find-precision"],
        searches,
        "--find-max; for example --find-max='p99 < 20ms'",
    ),
    (
        &["arrivals", "max-backlog"],
        |o| searches(o) || rates(o) != Rates::Closed,
        "a schedule of arrivals; for example --rate=1000",
    ),
];

/// Options that a schedule leaves nothing to do for, and why.
const CLOSED_ONLY: &[(&str, &str)] = &[
    (
        "think-time",
        "terminals with think times wait for replies, a schedule does not",
    ),
    (
        "connections",
        "a schedule has no terminals; --threads sets the number of sessions",
    ),
];

/// Limits of a run that steps and a search set themselves.
const LIMITS: &[&str] = &["time", "events", "count"];

fn rates(options: &OptionValues) -> Rates {
    // Checked when it was set.
    options.text("rate").parse().unwrap_or_default()
}

fn searches(options: &OptionValues) -> bool {
    options.text_opt("find-max").is_some()
}

/// The option that makes the schedule, as the user wrote it.
fn schedule(options: &OptionValues) -> String {
    let name = if searches(options) {
        "find-max"
    } else {
        "rate"
    };
    format!("--{name}={}", options.text(name))
}

fn given(options: &OptionValues, name: &str) -> bool {
    options.source(name) == Source::CommandLine
}

/// What lets a transaction start.
///
/// # Errors
/// [`Failure`] of bad usage when options contradict each other or miss their companion.
pub fn pacing(options: &OptionValues) -> Result<Pacing, Failure> {
    let pacing = match (rates(options), options.text_opt("find-max")) {
        (Rates::Closed, None) => Pacing::Closed,
        (Rates::One(rate), None) => Pacing::Rate(rate),
        (Rates::Steps(rates), None) => Pacing::Steps(steps(options, &rates)),
        (Rates::Closed, Some(objective)) => Pacing::FindMax(find_max(options, objective)?),
        (_, Some(objective)) => {
            return Err(Failure::usage(format!(
                "--rate={} and --find-max={objective:?} both set the arrival rate; use one of \
                 them; --find-from sets the first rate of a search",
                options.text("rate")
            )));
        }
    };
    check(options, &pacing)?;
    Ok(pacing)
}

fn steps(options: &OptionValues, rates: &[f64]) -> Vec<RateStep> {
    let hold = options.time("rate-hold");
    let step = |rate: &f64| RateStep {
        per_second: *rate,
        hold,
    };
    rates.iter().map(step).collect()
}

fn find_max(options: &OptionValues, objective: &str) -> Result<FindMax, Failure> {
    let objective: Objective = objective
        .parse()
        .map_err(|e| Failure::usage(format!("--find-max={e}")))?;
    Ok(FindMax {
        objective,
        first_rate: Some(options.float("find-from")).filter(|rate| *rate > 0.0),
        hold: options.time("find-hold"),
        confirm: options.time("find-confirm"),
        precision: options.float("find-precision"),
    })
}

fn check(options: &OptionValues, pacing: &Pacing) -> Result<(), Failure> {
    for (names, there, add) in COMPANIONS {
        if let Some(name) = names.iter().find(|n| given(options, n))
            && !there(options)
        {
            return Err(Failure::usage(format!(
                "--{name}={} applies only to {add}",
                options.text(name)
            )));
        }
    }
    if pacing.is_open_loop() {
        for (name, why) in CLOSED_ONLY {
            if !matches!(options.text(name), "" | "0") {
                return Err(Failure::usage(format!(
                    "--{name}={} and {} cannot be combined: {why}",
                    options.text(name),
                    schedule(options)
                )));
            }
        }
    }
    if sets_its_length(pacing)
        && let Some(name) = LIMITS
            .iter()
            .find(|n| given(options, n) && options.text(n) != "0")
    {
        let instead = match pacing {
            Pacing::FindMax(_) => "--find-hold and --find-confirm",
            _ => "--rate-hold",
        };
        return Err(Failure::usage(format!(
            "--{name}={} and {} both set the duration; use {instead}, for example {}=10s",
            options.text(name),
            schedule(options),
            instead.split(' ').next().unwrap_or_default()
        )));
    }
    Ok(())
}

/// Whether the pacing, and not --time and --events, says how long a run is.
pub fn sets_its_length(pacing: &Pacing) -> bool {
    matches!(pacing, Pacing::Steps(_) | Pacing::FindMax(_))
}

/// How long the measurement will be, as far as that is known before.
pub fn length(spec: &RunSpec) -> Option<Duration> {
    match &spec.pacing {
        Pacing::Steps(steps) => Some(steps.iter().map(|s| s.hold).sum()),
        _ => spec.time,
    }
}

/// What is asked for beyond sysbench's options, a line each, for the head of the output.
pub fn described(spec: &RunSpec) -> Vec<String> {
    let mut lines = Vec::new();
    match &spec.pacing {
        Pacing::Steps(steps) => {
            let rates = steps.iter().map(|s| s.per_second);
            let low = rates.clone().fold(f64::INFINITY, f64::min);
            let high = rates.fold(0.0, f64::max);
            let hold = steps.first().map(|s| s.hold).unwrap_or_default();
            lines.push(format!(
                "Steps: {} rates from {low} to {high}/sec, each held for {hold:?}",
                steps.len()
            ));
        }
        Pacing::FindMax(search) => lines.push(format!(
            "Searching for the highest rate that meets {}",
            search.objective
        )),
        Pacing::Closed | Pacing::Rate(_) => {}
    }
    if spec.pacing.is_open_loop() && spec.arrivals == Arrivals::Constant {
        lines.push("Arrivals: constant spacing".into());
    }
    if spec.sessions != spec.terminals {
        lines.push(format!(
            "Sessions: {} for {} terminals",
            spec.sessions, spec.terminals
        ));
    }
    if spec.think_time != ThinkTime::None {
        lines.push(format!("Think time: {}", spec.think_time));
    }
    if !spec.inject_rtt.is_zero() {
        lines.push(format!("Injected network latency: {:?}", spec.inject_rtt));
    }
    if let Some(time) = spec.statement_timeout {
        lines.push(format!("Statement timeout: {time:?}"));
    }
    lines
}

/// A distance that no network has, which is what a number without a unit asks for.
pub fn long_distance(options: &OptionValues, spec: &RunSpec) -> Option<String> {
    if spec.inject_rtt < Duration::from_secs(1) {
        return None;
    }
    let written = options.text("inject-rtt");
    let seconds = spec.inject_rtt.as_secs_f64();
    let unit = if seconds == 1.0 {
        "second is"
    } else {
        "seconds are"
    };
    let meant = match written.parse::<f64>() {
        Ok(_) => format!("; for {written} ms write --inject-rtt={written}ms"),
        Err(_) => String::new(),
    };
    Some(format!(
        "--inject-rtt={written}: {seconds} {unit} added to every round trip{meant}"
    ))
}

/// Terminals and the sessions that they share.
///
/// # Errors
/// [`Failure`] of bad usage when there are more sessions than terminals.
pub fn terminals_and_sessions(options: &OptionValues) -> Result<(usize, usize), Failure> {
    let number = |name| usize::try_from(options.uint(name)).unwrap_or(1);
    let terminals = number("threads");
    match number("connections") {
        0 => Ok((terminals, terminals)),
        sessions if sessions <= terminals => Ok((terminals, sessions)),
        sessions => Err(Failure::usage(format!(
            "--connections={sessions}: must be 0 (one session per terminal) to {terminals}, the \
             number of --threads; for example --threads={} --connections={sessions}",
            sessions.saturating_mul(10).min(1_000_000)
        ))),
    }
}

/// A terminal's pause.
pub fn think_time(options: &OptionValues) -> ThinkTime {
    // Checked when it was set.
    options.text("think-time").parse().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use crate::plan::run_spec;
    use std::time::Duration;
    use tidemark_core::{
        Arrivals, FewerSessions, OptionValues, Pacing, Protocol, RunSpec, ThinkTime,
    };

    fn options(line: &str) -> OptionValues {
        let words = format!("oltp_read_only run {line}");
        let words: Vec<String> = words
            .split_whitespace()
            // As a shell would have it.
            .map(|w| w.replace('~', " "))
            .collect();
        match crate::compat::sysbench::parse::parse(&words).unwrap() {
            crate::compat::sysbench::parse::Invocation::Workload { options, .. } => *options,
            other => panic!("{other:?}"),
        }
    }

    fn spec(line: &str) -> RunSpec {
        run_spec(&options(line), Protocol::Mysql).unwrap()
    }

    fn failure(line: &str) -> String {
        run_spec(&options(line), Protocol::Mysql)
            .unwrap_err()
            .to_string()
    }

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn nothing_asked_for_is_sysbenchs_closed_loop() {
        let spec = spec("--threads=8");
        assert_eq!((spec.terminals, spec.sessions), (8, 8));
        assert_eq!(spec.pacing, Pacing::Closed);
        assert_eq!(spec.think_time, ThinkTime::None);
        assert_eq!(spec.connect_rate, None);
        assert_eq!(spec.fewer_sessions, FewerSessions::Fail);
        assert_eq!(spec.statement_timeout, None);
        assert_eq!(spec.inject_rtt, Duration::ZERO);
        assert_eq!(spec.time, Some(10 * SECOND));
        assert_eq!(spec.max_backlog, 100_000);
    }

    #[test]
    fn terminals_share_sessions_and_think() {
        let spec = spec(
            "--threads=1000 --connections=50 --think-time=exp:12s --connect-rate=200 \
             --fewer-sessions=go-on --inject-rtt=20ms --statement-timeout=5s",
        );
        assert_eq!((spec.terminals, spec.sessions), (1000, 50));
        assert_eq!(spec.think_time, ThinkTime::Exponential(12 * SECOND));
        assert_eq!(spec.connect_rate, Some(200.0));
        assert_eq!(spec.fewer_sessions, FewerSessions::GoOn);
        assert_eq!(spec.inject_rtt, Duration::from_millis(20));
        assert_eq!(spec.statement_timeout, Some(5 * SECOND));
    }

    #[test]
    fn rates_are_one_or_steps() {
        let one = spec("--rate=500 --arrivals=constant --max-backlog=7 --time=3");
        assert_eq!(one.pacing, Pacing::Rate(500.0));
        assert_eq!(one.arrivals, Arrivals::Constant);
        assert_eq!((one.max_backlog, one.time), (7, Some(3 * SECOND)));
        let several = spec("--rate=1000..3000:1000 --rate-hold=5s");
        let Pacing::Steps(steps) = several.pacing else {
            panic!("{:?}", several.pacing)
        };
        let rates: Vec<_> = steps.iter().map(|s| s.per_second).collect();
        assert_eq!(rates, [1000.0, 2000.0, 3000.0]);
        assert!(steps.iter().all(|s| s.hold == 5 * SECOND));
        assert_eq!(several.time, None, "steps set the duration");
    }

    #[test]
    fn a_search_has_its_options() {
        let spec = spec("--find-max=p99~<~20ms --find-from=100 --find-hold=2s --find-confirm=9s");
        let Pacing::FindMax(search) = spec.pacing else {
            panic!("{:?}", spec.pacing)
        };
        assert_eq!(search.objective.to_string(), "p99 < 20ms");
        assert_eq!(search.first_rate, Some(100.0));
        assert_eq!((search.hold, search.confirm), (2 * SECOND, 9 * SECOND));
        assert_eq!(search.precision, 0.05);
        assert_eq!((spec.time, spec.events), (None, None));
    }

    #[test]
    fn what_is_asked_for_is_said_before_the_run() {
        let said = |line: &str| super::described(&spec(line)).join("; ");
        assert_eq!(said("--threads=8 --rate=50"), "");
        assert_eq!(
            said("--rate=1000..3000:500 --rate-hold=5s --arrivals=constant --inject-rtt=20ms"),
            "Steps: 5 rates from 1000 to 3000/sec, each held for 5s; Arrivals: constant spacing; \
             Injected network latency: 20ms"
        );
        assert_eq!(
            said("--threads=9 --connections=3 --think-time=exp:1s --statement-timeout=2"),
            "Sessions: 3 for 9 terminals; Think time: exp:1s; Statement timeout: 2s"
        );
        assert_eq!(
            said("--find-max=max<1s"),
            "Searching for the highest rate that meets max < 1s"
        );
        let length = |line: &str| super::length(&spec(line));
        assert_eq!(length("--rate=1,2,3 --rate-hold=5s"), Some(15 * SECOND));
        assert_eq!(length("--time=7"), Some(7 * SECOND));
        assert_eq!(length("--find-max=max<1s"), None);
    }

    #[test]
    fn a_distance_in_seconds_is_told() {
        let said = |value: &str| {
            let options = options(&format!("--inject-rtt={value}"));
            let spec = run_spec(&options, Protocol::Mysql).unwrap();
            super::long_distance(&options, &spec)
        };
        assert_eq!(
            said("20").unwrap(),
            "--inject-rtt=20: 20 seconds are added to every round trip; for 20 ms write \
             --inject-rtt=20ms"
        );
        let one = said("1").unwrap();
        assert!(one.contains("1 second is added"), "{one}");
        assert_eq!(
            said("1.5s").unwrap(),
            "--inject-rtt=1.5s: 1.5 seconds are added to every round trip"
        );
        for short in ["0", "0.02", "20ms", "999ms"] {
            assert_eq!(said(short), None);
        }
    }

    #[test]
    fn contradictions_are_told() {
        for (line, said) in [
            (
                "--threads=4 --connections=5",
                "--threads=50 --connections=5",
            ),
            ("--rate=9 --think-time=1s", "--think-time=1s and --rate=9"),
            ("--threads=9 --connections=3 --rate=5", "--threads sets"),
            ("--rate=5 --find-max=p99<1s", "--find-from"),
            ("--find-max=p99<1s --time=60", "use --find-hold"),
            ("--rate=1,2 --time=60", "use --rate-hold"),
            ("--rate=1,2 --events=60", "use --rate-hold"),
            ("--rate=1 --rate-hold=2s", "applies only to steps of --rate"),
            ("--find-hold=2s", "applies only to --find-max"),
            ("--arrivals=constant", "only to a schedule"),
            ("--max-backlog=4", "only to a schedule"),
        ] {
            let failure = failure(line);
            assert!(failure.contains(said), "{line}: {failure}");
        }
    }

    #[test]
    fn a_configuration_files_time_gives_way_to_steps() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("config");
        std::fs::write(&file, "time=300\nrate-hold=3s\n").unwrap();
        let config = format!("--config-file={}", file.display());
        assert_eq!(spec(&format!("{config} --rate=1,2")).time, None);
        // And what it says of steps does no harm without them.
        assert_eq!(spec(&config).time, Some(300 * SECOND));
    }
}
