//! What flags, properties and files say, one after the other: the last word counts.

use super::files::{self, Property};
use super::parse::defaults;
use super::properties::{Meaning, known, meaning, property_of};
use crate::exit::Failure;
use tidemark_core::{
    OptionError, OptionValues, Protocol, Source, nearest, redact_target, redact_url, redact_value,
};
use tidemark_workloads::Definition;

/// The core workload's names in go-ycsb and in YCSB.
const CLASSES: &[&str] = &[
    "core",
    "site.ycsb.workloads.CoreWorkload",
    "com.yahoo.ycsb.workloads.CoreWorkload",
];

fn workload(definition: &'static Definition) -> impl Iterator<Item = &'static str> {
    let tables = definition.options.iter().copied().flatten();
    tables.map(|o| o.name)
}

/// What was said so far.
pub(super) struct PropertyReader {
    pub definition: &'static Definition,
    pub options: OptionValues,
    pub properties: Vec<(String, String)>,
    pub hints: Vec<String>,
    pub database: Option<Protocol>,
}

impl PropertyReader {
    /// Nothing but defaults.
    pub fn new(definition: &'static Definition, database: Option<Protocol>) -> Self {
        Self {
            definition,
            options: defaults(definition),
            properties: Vec::new(),
            hints: Vec::new(),
            database,
        }
    }

    /// Takes a file; says so if it is not there and a built-in workload is taken for it.
    pub fn file(&mut self, path: &str) -> Result<Option<String>, Failure> {
        let properties = files::read(path)?;
        for property in &properties {
            self.property(property, Source::ConfigFile)?;
        }
        Ok(files::stand_in(path, &properties))
    }

    /// Takes a property of the command line.
    pub fn given(&mut self, name: &str, value: &str) -> Result<(), Failure> {
        let property = Property {
            name: name.into(),
            value: value.into(),
            place: "-p".into(),
        };
        self.property(&property, Source::CommandLine)
    }

    /// Takes one property; `source` says from where.
    fn property(&mut self, property: &Property, source: Source) -> Result<(), Failure> {
        let Property { name, value, place } = property;
        // As it may be told: a URL in the wrong place may have a password in it.
        let told = match name.as_str() {
            "target" => redact_target(value),
            _ => redact_value(value),
        };
        match meaning(name, workload(self.definition)) {
            Meaning::Option(option) => {
                self.of_this_database(name);
                let set = self.options.set(option, value, source);
                set.map_err(|error| worded(error, name, place))?;
            }
            Meaning::Throughput => {
                let Ok(rate) = value.parse::<u64>() else {
                    return Err(Failure::usage(format!(
                        "{name}={told} ({place}): must be a whole number of operations per second, \
                         0 for no limit; for example target=1000"
                    )));
                };
                self.throughput(rate, source)?;
            }
            Meaning::Class if CLASSES.contains(&value.as_str()) => {}
            Meaning::Class => {
                return Err(Failure::usage(format!(
                    "workload={told} ({place}): must be core, the only YCSB workload class in \
                     Tidemark"
                )));
            }
            Meaning::Nothing(why) => {
                self.hints
                    .push(format!("{name} ({place}) has no effect: {why}"));
            }
            Meaning::Unknown => {
                let hint = nearest(name, known(workload(self.definition)))
                    .map_or("; tidemark ycsb --help lists them".to_string(), |n| {
                        format!("; did you mean {n}?")
                    });
                return Err(Failure::usage(format!(
                    "unknown property {name} ({place}){hint}"
                )));
            }
        }
        let secret = name.ends_with(".password") && !value.is_empty();
        let shown = if secret { "***".into() } else { told };
        self.properties.retain(|(known, _)| known != name);
        self.properties.push((name.clone(), shown));
        Ok(())
    }

    /// Says that a connection's property is another database's.
    fn of_this_database(&mut self, name: &str) {
        let theirs = match name.split_once('.').map(|(first, _)| first) {
            Some("mysql" | "tidb") => Protocol::Mysql,
            Some("pg") => Protocol::Postgres,
            Some("sqlite") => Protocol::Sqlite,
            _ => return,
        };
        if self.database.is_some_and(|ours| ours != theirs) {
            let hint = format!("{name} has no effect: it is for another database");
            if !self.hints.contains(&hint) {
                self.hints.push(hint);
            }
        }
    }

    /// `--target`: a throughput as go-ycsb has it, or a database's URL as every command has it.
    pub fn target(&mut self, value: &str) -> Result<(), Failure> {
        match value.parse::<u64>() {
            Ok(rate) => self.throughput(rate, Source::CommandLine),
            Err(_) => {
                self.options.set("target", value, Source::CommandLine)?;
                Ok(())
            }
        }
    }

    /// Operations a second at equal distances, as YCSB's clients keep them; 0 is no limit.
    fn throughput(&mut self, rate: u64, source: Source) -> Result<(), Failure> {
        self.options.set("rate", &rate.to_string(), source)?;
        if rate > 0 && self.options.source("arrivals") == Source::Default {
            self.options
                .set("arrivals", "constant", Source::ConfigFile)?;
        }
        Ok(())
    }
}

/// An error of an option in the words of the property.
fn worded(error: OptionError, name: &str, place: &str) -> Failure {
    match error {
        OptionError::Value {
            name: option,
            value,
            allowed,
            example,
        } => {
            let right = example.split_once('=').map_or("", |(_, right)| right);
            debug_assert_eq!(property_of(&option), name);
            Failure::usage(format!(
                "{name}={} ({place}): must be {allowed}; for example {name}={right}",
                redact_value(&value)
            ))
        }
        other => Failure::usage(redact_url(&format!("{other} ({place})"))),
    }
}
