//! What a script declares: `sysbench.cmdline.options` and `sysbench.cmdline.commands`.

use crate::file::SCRIPT_OPTIONS;
use mlua::{Table, Value};
use std::collections::BTreeSet;
use tidemark_core::{OptionKind, OptionSpec};

/// What a script's top level left.
#[derive(Debug, Default)]
pub(crate) struct Declared {
    pub options: Vec<OptionSpec>,
    /// Options without a default.
    pub unset: Vec<&'static str>,
    /// Commands, and whether each runs on all threads.
    pub commands: Vec<(String, bool)>,
    pub functions: BTreeSet<String>,
    /// Whether no options are declared.
    pub is_legacy: bool,
}

const INT: OptionKind = OptionKind::Int {
    min: i64::MIN,
    max: i64::MAX,
};
const FLOAT: OptionKind = OptionKind::Float {
    min: f64::MIN,
    max: f64::MAX,
};

/// Reads the tables of a script's environment. A script without options takes those that were given.
///
/// # Errors
/// In words, what is not as sysbench documents it.
pub(crate) fn of(environment: &Table, given: &[(String, String)]) -> Result<Declared, String> {
    let read = |error: mlua::Error| error.to_string();
    let mut declared = Declared::default();
    let sysbench: Value = environment.get("sysbench").map_err(read)?;
    let cmdline = match &sysbench {
        Value::Table(table) => table.get::<Value>("cmdline").map_err(read)?,
        _ => return Err("sysbench is no table any more".into()),
    };
    let Value::Table(cmdline) = cmdline else {
        return Err("sysbench.cmdline is no table any more".into());
    };
    match cmdline.get::<Value>("options").map_err(read)? {
        Value::Table(options) => {
            for pair in options.pairs::<Value, Value>() {
                let (name, what) = pair.map_err(read)?;
                let Value::String(name) = name else { continue };
                let (spec, has_default) = option_of(&name.to_string_lossy(), &what)?;
                declared.options.push(spec);
                if !has_default {
                    declared.unset.push(spec.name);
                }
            }
        }
        _ => {
            declared.is_legacy = true;
            // Tidemark's own options of scripts are no script's, and keep their kinds.
            let is_ours = |name: &str| {
                let dashed = name.replace('_', "-");
                SCRIPT_OPTIONS.iter().any(|option| option.name == dashed)
            };
            for (name, _) in given.iter().filter(|(name, _)| !is_ours(name)) {
                declared
                    .options
                    .push(spec(name, OptionKind::Text, "", "as given"));
            }
        }
    }
    declared.options.sort_by_key(|spec| spec.name);
    declared.options.dedup_by_key(|spec| spec.name);
    if let Value::Table(commands) = cmdline.get::<Value>("commands").map_err(read)? {
        for pair in commands.pairs::<Value, Value>() {
            let (Value::String(name), what) = pair.map_err(read)? else {
                continue;
            };
            let parallel = match what {
                Value::Table(parts) => parts.get::<Value>(2).map_err(read)?.as_boolean(),
                _ => None,
            };
            declared
                .commands
                .push((name.to_string_lossy(), parallel == Some(true)));
        }
    }
    declared.commands.sort();
    Ok(declared)
}

fn spec(name: &str, kind: OptionKind, default: &str, help: &str) -> OptionSpec {
    // A process has few scripts.
    let leaked = |text: String| -> &'static str { Box::leak(text.into_boxed_str()) };
    OptionSpec {
        name: leaked(name.replace('_', "-")),
        kind,
        default: leaked(default.to_string()),
        help: leaked(help.to_string()),
    }
}

/// `name = {"description", default, kind}`; kind and default may be absent.
fn option_of(name: &str, what: &Value) -> Result<(OptionSpec, bool), String> {
    let Value::Table(parts) = what else {
        return Err(format!(
            "sysbench.cmdline.options.{name}: must be a table; for example {name} = {{\"Rows\", 1000}}"
        ));
    };
    let part = |at: usize| parts.get::<Value>(at).map_err(|e| e.to_string());
    let help = match part(1)? {
        Value::String(text) => text.to_string_lossy(),
        _ => String::new(),
    };
    let default = part(2)?;
    let (found, text) = match &default {
        Value::Boolean(on) => (OptionKind::Bool, if *on { "on" } else { "off" }.to_string()),
        Value::Integer(number) => (INT, number.to_string()),
        Value::Number(number) => (FLOAT, number.to_string()),
        Value::String(text) => (OptionKind::Text, text.to_string_lossy()),
        Value::Table(words) => {
            let words = words.sequence_values::<String>();
            let words = words
                .collect::<Result<Vec<_>, _>>()
                .map_err(|e| e.to_string())?;
            (OptionKind::List, words.join(","))
        }
        _ => (OptionKind::Text, String::new()),
    };
    let asked = match part(3)? {
        Value::String(kind) => match kind.to_string_lossy().as_str() {
            "bool" => Some(OptionKind::Bool),
            "int" | "size" => Some(INT),
            "double" => Some(FLOAT),
            "list" => Some(OptionKind::List),
            _ => Some(OptionKind::Text),
        },
        _ => None,
    };
    let kind = asked.unwrap_or(found);
    Ok((spec(name, kind, &text, &help), !default.is_nil()))
}
