//! From text to [`Study`].

use crate::command::{Commands, said_by_the_study};
use crate::error::StudyError;
use crate::file::{
    During, Existing, Factor, FactorValue, Levels, NamedValue, OnFailure, Password, Price, Reload,
    RunOrder, Study, StudySection, StudyTarget, StudyWorkload,
};
use crate::judge::{judge, not_whole};
use crate::keys::FileSection;
use crate::read::{StudyReader, StudyTable, StudyValue};
use crate::{Problem, family, syntax};
use std::collections::BTreeSet;
use std::time::Duration;
use tidemark_core::{ReportPlace, Secret, Target, nearest};
use toml::de::DeTable;

/// Names that cells have of their own.
const OWN_FACTORS: &[&str] = &[
    "target",
    "workload",
    "threads",
    "terminals",
    "rate",
    "connections",
];
/// How true and false are written on a command line, and in a server's settings.
const OPTION_WORDS: [&str; 2] = ["on", "off"];
const SETTING_WORDS: [&str; 2] = ["ON", "OFF"];

/// Reads a study file, whatever its commands take.
///
/// # Errors
/// [`StudyError`] with everything that is wrong, by line; no password is in it.
pub fn parse(text: &str) -> Result<Study, StudyError> {
    read(text, None)
}

/// Reads a study file for these commands: their options don't say what the study says itself.
///
/// # Errors
/// As [`parse`].
pub fn parse_for(text: &str, commands: &dyn Commands) -> Result<Study, StudyError> {
    read(text, Some(commands))
}

fn read(text: &str, commands: Option<&dyn Commands>) -> Result<Study, StudyError> {
    let reader = StudyReader::new(text);
    let (root, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        return Err(StudyError::new(syntax::problems(text, &reader, &errors)));
    }
    let root = root.get_ref();
    let study = study(&reader, &reader.table(FileSection::Top, root, 1));
    if let Some((study, commands)) = study.as_ref().zip(commands) {
        said_twice(&reader, study, commands);
    }
    match (study, reader.problems()) {
        (Some(study), problems) if problems.is_empty() => Ok(study),
        (None, problems) if problems.is_empty() => Err(StudyError::new(vec![Problem::new(
            1,
            "the file cannot be parsed",
        )])),
        (_, problems) => Err(StudyError::new(problems)),
    }
}

/// Tells of options that say what other keys of the study say.
fn said_twice(reader: &StudyReader, study: &Study, commands: &dyn Commands) {
    let of_workloads = study.workloads.iter().flat_map(|w| &w.options);
    let values = study.factors.iter().flat_map(|f| &f.values);
    for option in of_workloads.chain(values.flat_map(|v| &v.options)) {
        if let Some(instead) = said_by_the_study(&option.name, commands) {
            reader.problem(option.line, format!("option {}: {instead}", option.name));
        }
    }
}

/// As much of a study as can be read; every problem is told.
fn study(reader: &StudyReader, top: &StudyTable<'_, '_>) -> Option<Study> {
    let name = top.required("name").and_then(|v| v.name());
    let load = top.get("load").and_then(|v| v.table(FileSection::Load));
    let load = load.map_or_else(default_levels, |table| levels(&table));
    let workloads: Vec<StudyWorkload> = top
        .tables("workload", FileSection::Workload)
        .iter()
        .filter_map(|table| workload(table))
        .collect();
    if top.get("workload").is_none() {
        top.problem("no [[workload]]; for example\n[[workload]]\nname = \"oltp_read_only\"");
    }
    let targets: Vec<StudyTarget> = top
        .tables("target", FileSection::Target)
        .iter()
        .filter_map(target)
        .collect();
    let factors: Vec<Factor> = top
        .tables("factor", FileSection::Factor)
        .iter()
        .filter_map(factor)
        .collect();
    let study = Study {
        name: name.unwrap_or_default(),
        repeats: whole(top.get("repeats"), 1, 1000).unwrap_or(1),
        warmup: time(top.get("warmup")).unwrap_or(Duration::ZERO),
        time: length(top.get("time")).unwrap_or(Duration::from_secs(60)),
        order: chosen(
            top.get("order"),
            &[("given", RunOrder::Given), ("shuffled", RunOrder::Shuffled)],
        ),
        seed: top
            .get("seed")
            .and_then(|v| v.whole(0, u64::MAX))
            .unwrap_or(1),
        reload: chosen(
            top.get("reload"),
            &[
                ("never", Reload::Never),
                ("per-workload", Reload::PerWorkload),
                ("per-run", Reload::PerRun),
            ],
        ),
        existing: chosen(
            top.get("existing"),
            &[("keep", Existing::Keep), ("replace", Existing::Replace)],
        ),
        load_threads: whole(top.get("load-threads"), 1, 1000).unwrap_or(4),
        on_failure: chosen(
            top.get("on-failure"),
            &[("go-on", OnFailure::GoOn), ("stop", OnFailure::Stop)],
        ),
        host_tests: chosen(top.get("host-tests"), &[("off", false), ("on", true)]),
        objective: top.get("objective").and_then(|v| {
            let parsed = v.text()?.parse();
            parsed.map_err(|e| v.refuse(&format!("{e}"))).ok()
        }),
        price: price(top),
        targets,
        workloads,
        load,
        factors,
        title: top.get("title").and_then(|v| v.text()).map(Into::into),
        text: top.get("text").and_then(|v| v.text()).map(Into::into),
        sections: top
            .tables("section", FileSection::Section)
            .iter()
            .filter_map(section)
            .collect(),
    };
    judge(reader, top, &study);
    Some(study)
}

fn whole(value: Option<StudyValue<'_, '_>>, min: u64, max: u64) -> Option<u32> {
    value
        .and_then(|v| v.whole(min, max))
        .and_then(|n| u32::try_from(n).ok())
}

fn time(value: Option<StudyValue<'_, '_>>) -> Option<Duration> {
    value.and_then(|v| v.time())
}

/// How long a run measures: some time.
fn length(value: Option<StudyValue<'_, '_>>) -> Option<Duration> {
    let value = value?;
    let time = value.time()?;
    if time.is_zero() {
        value.refuse("a run needs a time above 0");
        return None;
    }
    Some(time)
}

/// The choice made; the first when there is none.
fn chosen<T: Copy>(value: Option<StudyValue<'_, '_>>, choices: &[(&str, T)]) -> T {
    value
        .and_then(|v| v.choice(choices))
        .unwrap_or(choices[0].1)
}

fn default_levels() -> Levels {
    Levels {
        line: 1,
        word: "threads",
        threads: vec![1],
        rates: Vec::new(),
        connections: Vec::new(),
        given: false,
    }
}

fn levels(table: &StudyTable<'_, '_>) -> Levels {
    const MOST: u64 = 1_000_000;
    let named = [
        ("threads", table.get("threads")),
        ("terminals", table.get("terminals")),
    ];
    let (word, threads) = match named {
        [(_, Some(_)), (_, Some(terminals))] => {
            terminals.refuse("threads and terminals mean the same; use one of them");
            ("terminals", vec![1])
        }
        [(word, Some(given)), _] | [_, (word, Some(given))] => (word, given.wholes(MOST)),
        _ => ("threads", vec![1]),
    };
    Levels {
        line: table.line,
        word,
        threads,
        rates: table.get("rates").map_or(Vec::new(), |v| v.numbers()),
        connections: table
            .get("connections")
            .map_or(Vec::new(), |v| v.wholes(MOST)),
        given: true,
    }
}

fn price(top: &StudyTable<'_, '_>) -> Option<Price> {
    let table = top.get("price")?.table(FileSection::Price)?;
    let total = table.required("total").and_then(|v| v.number());
    let currency = table.required("currency").and_then(|v| v.currency());
    Some(Price {
        total: total?,
        currency: currency?,
    })
}

fn section(table: &StudyTable<'_, '_>) -> Option<StudySection> {
    let place = table.required("place").and_then(|value| {
        let place = value.text()?.parse::<ReportPlace>();
        place.map_err(|why| value.refuse(&why)).ok()
    });
    let title = table.get("title").and_then(|v| v.text());
    let text = table.required("text").and_then(|v| v.text());
    Some(StudySection {
        place: place?,
        title: title.map(Into::into),
        text: text?.into(),
    })
}

fn target(table: &StudyTable<'_, '_>) -> Option<StudyTarget> {
    let name = table.required("name").and_then(|v| v.label());
    let url = table.required("url").and_then(|v| url(&v));
    let admin = table.get("admin").and_then(|v| url_of_server(&v));
    let password = table
        .get("password")
        .and_then(|v| self::password(&v, url.as_deref(), "the URL"));
    let admin_password = table.get("admin-password").and_then(|v| {
        if table.get("admin").is_none() {
            v.refuse("it belongs to admin, which is missing");
        }
        self::password(&v, admin.as_deref(), "admin")
    });
    Some(StudyTarget {
        line: table.line,
        name: name?,
        url: url?,
        admin,
        admin_password,
        password,
        session: settings(table.get("session")),
    })
}

/// The password of a URL's account, which `of` is the word for.
fn password(value: &StudyValue<'_, '_>, url: Option<&str>, of: &str) -> Option<Password> {
    let text = value.text()?;
    if url.is_some_and(has_password) {
        value.refuse(&format!("{of} already has a password"));
    }
    match text.strip_prefix("env:").map(str::trim) {
        Some("") => {
            value.refuse("env: needs a variable's name");
            None
        }
        Some(variable) => Some(Password::Variable(variable.into())),
        None => Some(Password::Given(Secret::new(text))),
    }
}

fn has_password(url: &str) -> bool {
    Target::parse(url).is_ok_and(|t| !t.password.is_empty())
}

/// A target's URL, or `up:`, whose form is looked at when it is started.
fn url(value: &StudyValue<'_, '_>) -> Option<String> {
    let text = value.text()?;
    if text.starts_with("up:") {
        return Some(text.into());
    }
    url_of_server(value)
}

fn url_of_server(value: &StudyValue<'_, '_>) -> Option<String> {
    let text = value.text()?;
    match Target::parse(text) {
        Ok(_) => Some(text.into()),
        Err(error) => {
            value.refuse(&error.reason);
            None
        }
    }
}

fn workload(table: &StudyTable<'_, '_>) -> Option<StudyWorkload> {
    let label = table.get("label").map(|v| v.label());
    let given = table.get("family").map(|v| v.choice(&family::commands()));
    let value = table.required("name")?;
    let name = value.text()?;
    let named = family::of_name(name);
    let family = match given {
        Some(given) => {
            let given = given?;
            let of_it = named.filter(|f| f.command.word == given.command.word);
            if of_it.is_none() && !given.command.takes_files {
                value.refuse(&format!("{given} has no workload of this name"));
            }
            of_it.unwrap_or(given)
        }
        None => match named {
            Some(family) => family,
            None => {
                let known: Vec<&str> = family::workloads().collect();
                let hint = nearest(name, known.iter().copied())
                    .map_or(String::new(), |n| format!(", did you mean {n}?"));
                value.refuse(&format!(
                    "unknown workload{hint} (tidemark workloads lists them)"
                ));
                return None;
            }
        },
    };
    let label = match label {
        Some(label) => label?,
        // A path is no name for results.
        None => name.rsplit('/').next().unwrap_or(name).into(),
    };
    let load = table.get("load").and_then(|v| v.table(FileSection::Load));
    let (warmup, length) = (time(table.get("warmup")), length(table.get("time")));
    for (key, own) in [("warmup", warmup), ("time", length)] {
        if family.command.whole_seconds
            && own.is_some_and(|time| time.subsec_nanos() > 0)
            && let Some(value) = table.get(key)
        {
            value.refuse(&not_whole(family, &label));
        }
    }
    Some(StudyWorkload {
        line: table.line,
        name: name.into(),
        label,
        family,
        options: options(table.get("options")),
        load: load.map(|t| levels(&t)),
        warmup,
        time: length,
        session: settings(table.get("session")),
    })
}

/// Options of commands.
fn options(value: Option<StudyValue<'_, '_>>) -> Vec<NamedValue> {
    value.map_or(Vec::new(), |value| value.settings(OPTION_WORDS))
}

fn settings(value: Option<StudyValue<'_, '_>>) -> Vec<NamedValue> {
    let Some(value) = value else {
        return Vec::new();
    };
    let mut found = value.settings(SETTING_WORDS);
    found.retain(|setting| {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        let fits = setting.name.chars().all(is_word) && !setting.value.contains(';');
        if !fits {
            value.problem(
                setting.line,
                &format!(
                    "setting {}: names have only letters, digits, _ and ., and values no \
                          semicolon",
                    setting.name
                ),
            );
        }
        fits
    });
    found
}

fn factor(table: &StudyTable<'_, '_>) -> Option<Factor> {
    let name = table.required("name").and_then(|v| {
        let name = v.name()?;
        if OWN_FACTORS.contains(&name.as_str()) {
            v.wrong();
        }
        Some(name)
    });
    let values: Vec<FactorValue> = table
        .tables("values", FileSection::Value)
        .iter()
        .filter_map(factor_value)
        .collect();
    let given = table.required("values")?;
    let mut seen = BTreeSet::new();
    if !values.iter().all(|v| seen.insert(&v.label)) {
        given.refuse("labels must be unique");
    }
    if values.is_empty() {
        given.wrong();
    }
    Some(Factor {
        line: table.line,
        name: name?,
        during: chosen(
            table.get("during"),
            &[
                ("run", During::Run),
                ("load", During::Load),
                ("both", During::Both),
            ],
        ),
        workloads: table.get("workloads").map_or(Vec::new(), |v| v.texts()),
        values,
    })
}

fn factor_value(table: &StudyTable<'_, '_>) -> Option<FactorValue> {
    let label = table.required("label").and_then(|v| v.label());
    Some(FactorValue {
        line: table.line,
        label: label?,
        options: options(table.get("options")),
        session: settings(table.get("session")),
        set_global: settings(table.get("set-global")),
        inject_rtt: table.get("inject-rtt").and_then(|v| v.time_text()),
        target: table.get("target").and_then(|v| url(&v)),
    })
}
