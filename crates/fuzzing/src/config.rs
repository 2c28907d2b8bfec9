//! What users write: configuration files, target URLs, rates, objectives, times.

use crate::memory::bounded;
use std::time::Duration;
use tidemark_core::options::OptionKind;
use tidemark_core::{
    Objective, OptionSpec, OptionValues, Rates, Source, Target, ThinkTime, parse_config_file,
    parse_duration, redact_url,
};
use tidemark_workloads::random;

/// Messages repeat what was given, and hints compare it with every name there is.
const A_BYTE: usize = 512;
/// Stands for a password in what a fuzzer writes.
const SECRET: &str = "s3cr3t";

pub(crate) fn run(data: &[u8]) {
    let Some((which, rest)) = data.split_first() else {
        return;
    };
    let Ok(text) = std::str::from_utf8(rest) else {
        return;
    };
    bounded(data.len(), A_BYTE, || match which % 6 {
        0 => file(text),
        1 => url(text),
        2 => rates(text),
        3 => objective(text),
        4 => times(text),
        _ => password(text),
    });
}

/// An option of each kind; the workloads have the rest.
const OPTIONS: &[OptionSpec] = &[
    spec("bool", OptionKind::Bool),
    spec(
        "int",
        OptionKind::Int {
            min: i64::MIN,
            max: i64::MAX,
        },
    ),
    spec("float", OptionKind::Float { min: 0.0, max: 1e9 }),
    spec(
        "time-limit",
        OptionKind::Time {
            min: Duration::ZERO,
            max: Duration::MAX,
        },
    ),
    spec("think-time", OptionKind::ThinkTime),
    spec("rate", OptionKind::Rates),
    spec("find-max", OptionKind::Objective),
    spec("choice", OptionKind::Choice(&["one", "two"])),
    spec("list", OptionKind::List),
    spec("text", OptionKind::Text),
];

const fn spec(name: &'static str, kind: OptionKind) -> OptionSpec {
    OptionSpec {
        name,
        kind,
        default: "",
        help: "",
    }
}

fn file(text: &str) {
    let pairs = match parse_config_file(text) {
        Ok(pairs) => pairs,
        Err(e) => {
            assert!((1..=text.lines().count()).contains(&e.line), "{e}");
            return;
        }
    };
    // One workload is enough for an input.
    let registry = tidemark_workloads::registry();
    let definition = &registry[pairs.len() % registry.len()];
    let tables = definition.options.iter().copied();
    let mut values = OptionValues::defaults(tables.chain([random::RAND_OPTIONS, OPTIONS]));
    for (name, value) in &pairs {
        if let Err(e) = values.set(name, value, Source::ConfigFile) {
            assert!(!e.to_string().is_empty());
        }
    }
    for spec in values.specs() {
        let name = spec.name;
        // What was taken can be taken again.
        if !values.text(name).is_empty() {
            spec.parse(values.text(name)).unwrap();
        }
        let _ = (values.int(name), values.uint(name), values.float(name));
        values.time(name);
    }
    let _ = (definition.build)(&values);
}

fn url(text: &str) {
    let Ok(target) = Target::parse(text) else {
        return;
    };
    let shown = target.to_string();
    let again = Target::parse(&shown).unwrap_or_else(|e| panic!("{text}: {e}"));
    let mut plain = target.clone();
    plain.password = again.password.clone();
    assert_eq!(plain, again, "{shown}");
    for session in 0..3 {
        target.host_for(session);
    }
}

/// However a URL is broken, its password is not shown.
fn password(text: &str) {
    if text.contains(SECRET) {
        return;
    }
    let (before, after) = text.split_once('\n').unwrap_or((text, "db"));
    for scheme in ["mysql", "postgres", "nonsense"] {
        let url = format!("{scheme}://user:{SECRET}{before}@{after}");
        let words = match Target::parse(&url) {
            Ok(target) => target.to_string(),
            Err(e) => e.to_string(),
        };
        for words in [words, redact_url(&url)] {
            assert!(!words.contains(SECRET), "{url} is shown as {words}");
        }
    }
}

fn rates(text: &str) {
    if let Ok(rates) = text.parse::<Rates>() {
        let again: Rates = rates.to_string().parse().unwrap();
        assert_eq!(again, rates);
    }
}

fn objective(text: &str) {
    if let Ok(objective) = text.parse::<Objective>() {
        let shown = objective.to_string();
        let again: Objective = shown.parse().unwrap_or_else(|e| panic!("{text:?}: {e}"));
        assert_eq!(again.to_string(), shown);
        for limit in objective.limits() {
            limit.is_kept(1.0);
        }
    }
}

fn times(text: &str) {
    let _ = parse_duration(text);
    if let Ok(time) = text.parse::<ThinkTime>() {
        let again: ThinkTime = time.to_string().parse().unwrap();
        assert_eq!(again, time);
    }
}
