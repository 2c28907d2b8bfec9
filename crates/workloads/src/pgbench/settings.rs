//! The options, understood.

use super::expression::{ExprValue, Names};
use super::script::{Builtin, CommandKind, Mode, PgbenchCommand, Script, builtin, read};
use super::{AUTOMATIC, DEFAULT_SEED};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tidemark_core::{OptionError, OptionValues, did_you_mean};

/// Most scripts of one run.
const MOST_SCRIPTS: usize = 128;

/// A script as the option has it: a built-in one, or a file with its text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ScriptChoice {
    /// The name of a built-in script.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub builtin: Option<String>,
    /// The path of a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Its text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// How often it is chosen; 1 when it is not said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<u32>,
}

/// What a workload is set to.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The scaling factor.
    pub scale: u64,
    /// The scripts, at least one.
    pub scripts: Vec<Script>,
    /// The sum of their weights.
    pub weights: u64,
    /// What transactions are called: a name for each script.
    pub types: &'static [&'static str],
    /// Which built-in scripts there are.
    pub builtins: Vec<&'static Builtin>,
    /// The variables.
    pub names: Names,
    /// Those of `-D`, by their places.
    pub defined: Vec<(usize, ExprValue)>,
    /// How statements reach the server.
    pub mode: Mode,
    /// Most tries of a transaction; `None` is no limit.
    pub max_tries: Option<u64>,
    /// What a transaction may take.
    pub latency_limit: Option<Duration>,
    /// Whether commands are timed.
    pub times_commands: bool,
    /// Statements of all scripts.
    pub statements: usize,
    pub(super) fill_factor: u64,
    pub(super) foreign_keys: bool,
    pub(super) unlogged: bool,
    pub(super) tablespace: Option<String>,
    pub(super) index_tablespace: Option<String>,
}

/// Names that a process has once, for records and lines that keep them without a copy.
fn kept(names: Vec<String>) -> &'static [&'static str] {
    static KEPT: Mutex<BTreeMap<Vec<String>, &'static [&'static str]>> =
        Mutex::new(BTreeMap::new());
    let mut known = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let make = |names: &[String]| -> &'static [&'static str] {
        let each = names
            .iter()
            .map(|name| &*Box::leak(name.clone().into_boxed_str()));
        Box::leak(each.collect())
    };
    known.entry(names).or_insert_with_key(|names| make(names))
}

/// What a script's transactions are called, beside the names there are.
fn type_name(shown: &str, before: &[String]) -> String {
    let base = shown.rsplit('/').next().unwrap_or(shown);
    let is_new = |name: &String| !before.contains(name);
    let numbered = (2..).map(|n| format!("{base} ({n})"));
    std::iter::once(base.to_string())
        .chain(numbered)
        .find(is_new)
        .unwrap_or_default()
}

fn choices(text: &str) -> Result<Vec<ScriptChoice>, OptionError> {
    if text.is_empty() {
        return Ok(vec![ScriptChoice {
            builtin: Some("tpcb-like".into()),
            ..ScriptChoice::default()
        }]);
    }
    let read: Vec<ScriptChoice> = serde_json::from_str(text).map_err(|e| {
        OptionError::Conflict(format!(
            "scripts: {e}; for example [{{\"builtin\":\"tpcb-like\",\"weight\":1}}]"
        ))
    })?;
    match read.len() {
        1..=MOST_SCRIPTS => Ok(read),
        n => Err(OptionError::Conflict(format!(
            "scripts: {n} scripts; from 1 to {MOST_SCRIPTS} are allowed"
        ))),
    }
}

/// The built-in script that an option names.
///
/// # Errors
/// [`OptionError::Conflict`] with the names that there are.
pub fn builtin_named(name: &str) -> Result<&'static Builtin, OptionError> {
    let names = || super::script::BUILTINS.iter().map(|b| b.name);
    builtin(name).ok_or_else(|| {
        let known: Vec<&str> = names().collect();
        let hint = did_you_mean(name, names());
        OptionError::Conflict(format!(
            "--builtin={name}: known: {}{hint}; for example --builtin=select-only",
            known.join(", ")
        ))
    })
}

impl Settings {
    /// Understands the options.
    ///
    /// # Errors
    /// [`OptionError`] for scripts and variables that make no sense.
    pub fn new(values: &OptionValues) -> Result<Self, OptionError> {
        let mode = Mode::named(values.text("protocol"));
        let mut names = Names::default();
        for name in AUTOMATIC {
            names.slot(name);
        }
        names.slot(DEFAULT_SEED);
        let mut scripts = Vec::new();
        let mut types = Vec::new();
        let mut builtins = Vec::new();
        let mut statements = 0;
        for choice in choices(values.text("scripts"))? {
            let (shown, kind, text) = match (&choice.builtin, &choice.file) {
                (Some(name), None) => {
                    let found = builtin_named(name)?;
                    builtins.push(found);
                    (found.title, found.name, found.text)
                }
                (None, Some(path)) => {
                    let text = choice.text.as_deref().unwrap_or_default();
                    (path.as_str(), path.as_str(), text)
                }
                _ => {
                    return Err(OptionError::Conflict(
                        "scripts: each has a builtin, or a file and its text".into(),
                    ));
                }
            };
            let commands = read(shown, text, mode, &mut names, &mut statements);
            let commands = commands.map_err(|e| OptionError::Conflict(e.to_string()))?;
            types.push(type_name(kind, &types));
            scripts.push(Script {
                shown: shown.into(),
                weight: choice.weight.unwrap_or(1).into(),
                commands,
            });
        }
        let weights = scripts.iter().map(|s| s.weight).sum();
        if weights == 0 {
            return Err(OptionError::Conflict(
                "the weights of all scripts are 0; for example --builtin=select-only@1".into(),
            ));
        }
        let defined = defined(values.text("define"), &mut names)?;
        let limit = values.float("latency-limit");
        Ok(Self {
            scale: values.uint("scale"),
            scripts,
            weights,
            types: kept(types),
            builtins,
            names,
            defined,
            mode,
            max_tries: Some(values.uint("max-tries")).filter(|tries| *tries > 0),
            latency_limit: (limit > 0.0).then(|| Duration::from_secs_f64(limit / 1000.0)),
            times_commands: values.flag("report-per-command"),
            statements,
            fill_factor: values.uint("fillfactor"),
            foreign_keys: values.flag("foreign-keys"),
            unlogged: values.flag("unlogged-tables"),
            tablespace: values.text_opt("tablespace").map(Into::into),
            index_tablespace: values.text_opt("index-tablespace").map(Into::into),
        })
    }

    /// Round trips that every transaction needs at least.
    pub(super) fn fewest_round_trips(&self) -> u32 {
        let of = |commands: &[PgbenchCommand]| {
            let has_branches = commands
                .iter()
                .any(|c| matches!(c.what, CommandKind::If { .. }));
            if has_branches {
                return 1;
            }
            let trips = commands.iter().filter(|c| match &c.what {
                CommandKind::Sql(sql) => !sql.is_piped,
                CommandKind::EndPipeline => true,
                _ => false,
            });
            u32::try_from(trips.count()).unwrap_or(u32::MAX)
        };
        let chosen = self.scripts.iter().filter(|s| s.weight > 0);
        chosen.map(|s| of(&s.commands)).min().unwrap_or(1).max(1)
    }
}

/// The variables of `-D`.
fn defined(text: &str, names: &mut Names) -> Result<Vec<(usize, ExprValue)>, OptionError> {
    let mut defined = Vec::new();
    for pair in text.split(',').filter(|pair| !pair.is_empty()) {
        let parts = pair.split_once('=');
        let is_name = |name: &str| !name.is_empty() && name.chars().all(super::expression_name);
        let Some((name, value)) = parts.filter(|(name, _)| is_name(name)) else {
            return Err(OptionError::Conflict(format!(
                "--define={pair}: must be NAME=VALUE; for example --define=rows=1000"
            )));
        };
        if name == "client_id" {
            return Err(OptionError::Conflict(
                "--define=client_id: each client has its own number".into(),
            ));
        }
        defined.push((names.slot(name).slot, ExprValue::Text(value.into())));
    }
    Ok(defined)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use tidemark_core::Source;

    pub(in crate::pgbench) fn settings(given: &[(&str, &str)]) -> Result<Settings, OptionError> {
        let mut values = OptionValues::defaults([super::super::OPTIONS]);
        for (name, value) in given {
            values.set(name, value, Source::CommandLine)?;
        }
        Settings::new(&values)
    }

    #[test]
    fn scripts_have_names_and_weights() {
        let two = settings(&[(
            "scripts",
            r#"[{"builtin":"select-only","weight":3},
                {"file":"a/f.sql","text":"SELECT 1;","weight":0},
                {"file":"b/f.sql","text":"SELECT 2;"}]"#,
        )])
        .unwrap();
        assert_eq!(two.types, ["select-only", "f.sql", "f.sql (2)"]);
        assert_eq!((two.weights, two.statements), (4, 3));
        assert_eq!(two.fewest_round_trips(), 1);
        let plain = settings(&[]).unwrap();
        assert_eq!(plain.types, ["tpcb-like"]);
        assert_eq!(plain.fewest_round_trips(), 7);
        // The same list is kept once.
        assert!(std::ptr::eq(plain.types, settings(&[]).unwrap().types));
    }

    #[test]
    fn what_makes_no_sense_is_told() {
        for (given, said) in [
            (("scripts", "[]"), "0 scripts"),
            (("scripts", "x"), "for example"),
            (
                ("scripts", r#"[{"builtin":"tcpb-like"}]"#),
                "did you mean tpcb-like",
            ),
            (
                ("scripts", r#"[{"builtin":"select-only","weight":0}]"#),
                "weights",
            ),
            (
                ("scripts", r#"[{"file":"f.sql","text":"\\if"}]"#),
                "f.sql:1: \\if needs",
            ),
            (("define", "x"), "NAME=VALUE"),
            (("define", "client_id=3"), "its own number"),
        ] {
            let error = settings(&[given]).unwrap_err().to_string();
            assert!(error.contains(said), "{given:?}: {error}");
        }
    }
}
