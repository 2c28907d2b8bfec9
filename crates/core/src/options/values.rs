//! The values of a table of options, each with where it came from.

use super::{OptionError, OptionKind, OptionSpec, parse_size};
use crate::nearest;
use crate::pacing::parse_duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// Where an effective value came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// The option table.
    Default,
    /// The configuration file.
    ConfigFile,
    /// The command line.
    CommandLine,
    /// What a tool printed of itself; only of imported runs.
    Output,
}

/// The effective options: every option of a table with its value and where it came from.
#[derive(Debug, Clone, Default)]
pub struct OptionValues {
    specs: BTreeMap<&'static str, OptionSpec>,
    values: BTreeMap<&'static str, (String, Source)>,
}

impl OptionValues {
    /// The defaults of one or more tables; a later table's option replaces an earlier one.
    pub fn defaults<'a>(tables: impl IntoIterator<Item = &'a [OptionSpec]>) -> Self {
        let mut all = Self::default();
        for spec in tables.into_iter().flatten() {
            all.specs.insert(spec.name, *spec);
            let value = match spec.kind {
                OptionKind::Int { .. } => parse_size(spec.default)
                    .map(|n| n.to_string())
                    .unwrap_or_default(),
                _ => spec.default.to_string(),
            };
            all.values.insert(spec.name, (value, Source::Default));
        }
        all
    }

    /// Sets one option after checking it; underscores in the name count as dashes.
    ///
    /// # Errors
    /// [`OptionError::Unknown`] with the nearest name, or [`OptionError::Value`].
    pub fn set(&mut self, name: &str, value: &str, source: Source) -> Result<(), OptionError> {
        let spec = *self.spec(name)?;
        self.values.insert(spec.name, (spec.parse(value)?, source));
        Ok(())
    }

    /// The option's own row of the table; underscores in the name count as dashes.
    ///
    /// # Errors
    /// [`OptionError::Unknown`] with the nearest name.
    pub fn spec(&self, name: &str) -> Result<&OptionSpec, OptionError> {
        let dashed = name.replace('_', "-");
        self.specs
            .get(dashed.as_str())
            .ok_or_else(|| OptionError::Unknown {
                name: name.into(),
                nearest: nearest(&dashed, self.specs.keys().copied()).map(Into::into),
            })
    }

    /// Every option of the table, by name.
    pub fn specs(&self) -> impl Iterator<Item = &OptionSpec> {
        self.specs.values()
    }

    /// Whether the table has this option.
    pub fn has(&self, name: &str) -> bool {
        self.specs.contains_key(name)
    }

    /// The value as text; empty for an option the table lacks.
    pub fn text(&self, name: &str) -> &str {
        self.values
            .get(name)
            .map(|(v, _)| v.as_str())
            .unwrap_or_default()
    }

    /// The value as text, or `None` when it is empty.
    pub fn text_opt(&self, name: &str) -> Option<&str> {
        Some(self.text(name)).filter(|v| !v.is_empty())
    }

    /// The value as a whole number; 0 when it is empty.
    pub fn int(&self, name: &str) -> i64 {
        self.text(name).parse().unwrap_or(0)
    }

    /// The value as a whole number that can't be negative.
    pub fn uint(&self, name: &str) -> u64 {
        u64::try_from(self.int(name)).unwrap_or(0)
    }

    /// The value as a decimal number; 0 when it is empty.
    pub fn float(&self, name: &str) -> f64 {
        self.text(name).parse().unwrap_or(0.0)
    }

    /// The value as a time; none when it is empty.
    pub fn time(&self, name: &str) -> Duration {
        parse_duration(self.text(name)).unwrap_or_default()
    }

    /// The value as a boolean.
    pub fn flag(&self, name: &str) -> bool {
        self.text(name) == "on"
    }

    /// The value as a comma-separated list, without empty words.
    pub fn list(&self, name: &str) -> Vec<&str> {
        self.text(name)
            .split(',')
            .map(str::trim)
            .filter(|w| !w.is_empty())
            .collect()
    }

    /// Whether the option has this value already, however it is written: `10s` and `10000ms` are one.
    pub fn holds(&self, name: &str, value: &str) -> bool {
        let has = self.text(name);
        match self.spec(name).map(|spec| spec.kind) {
            Ok(OptionKind::Time { .. }) => parse_duration(value).ok() == parse_duration(has).ok(),
            Ok(OptionKind::Float { .. }) => value.parse::<f64>().ok() == has.parse().ok(),
            _ => value == has,
        }
    }

    /// Where the value came from.
    pub fn source(&self, name: &str) -> Source {
        self.values.get(name).map_or(Source::Default, |(_, s)| *s)
    }

    /// Every effective value with its source, by name; passwords show as `***`.
    pub fn shown(&self) -> impl Iterator<Item = (&'static str, &str, Source)> {
        self.values.iter().map(|(name, (value, source))| {
            let secret = self
                .specs
                .get(name)
                .is_some_and(|s| s.kind == OptionKind::Password);
            (
                *name,
                if secret && !value.is_empty() {
                    "***"
                } else {
                    value.as_str()
                },
                *source,
            )
        })
    }
}
