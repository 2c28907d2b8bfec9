//! Settings by option name, typed as their options are.

use crate::{OptionError, OptionKind, OptionSpec, OptionValues, Source};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};
use std::collections::BTreeMap;

/// Settings by option name: switches are booleans, counts and shares are numbers, all else is text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Settings(BTreeMap<String, Value>);

/// Why a setting was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// The option's own complaint.
    #[error("{name}: {error}")]
    Option {
        /// The setting.
        name: String,
        /// What the option says.
        error: OptionError,
    },
    /// A list or an object.
    #[error("{0}: use text, a number, true or false")]
    NotScalar(String),
}

impl Settings {
    /// The settings of these options that `wanted` names; passwords are left out whatever it says.
    pub fn of(options: &OptionValues, wanted: impl Fn(&OptionSpec) -> bool) -> Self {
        let specs = options
            .specs()
            .filter(|spec| spec.kind != OptionKind::Password);
        let wanted = specs.filter(|spec| wanted(spec));
        let typed = wanted.map(|spec| (spec.name.to_string(), typed(spec, options)));
        Self(typed.collect())
    }

    /// Sets options to these settings. Those that have their defaults stay as if nobody had named
    /// them.
    ///
    /// # Errors
    /// [`SettingsError`] naming the setting.
    pub fn apply(&self, options: &mut OptionValues, source: Source) -> Result<(), SettingsError> {
        for (name, value) in &self.0 {
            let text = match value {
                Value::String(text) => text.clone(),
                Value::Number(number) => number.to_string(),
                Value::Bool(flag) => if *flag { "on" } else { "off" }.into(),
                Value::Null | Value::Array(_) | Value::Object(_) => {
                    return Err(SettingsError::NotScalar(name.clone()));
                }
            };
            let failed = |error| SettingsError::Option {
                name: name.clone(),
                error,
            };
            let spec = options.spec(name).map_err(failed)?;
            if spec.kind == OptionKind::Password {
                return Err(SettingsError::Option {
                    name: name.clone(),
                    error: OptionError::Conflict("a job contains no passwords".into()),
                });
            }
            if !options.holds(name, &text) {
                options.set(name, &text, source).map_err(failed)?;
            }
        }
        Ok(())
    }

    /// One setting.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// Puts a setting.
    pub fn insert(&mut self, name: &str, value: Value) {
        self.0.insert(name.into(), value);
    }

    /// Every setting, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }
}

/// An option's value with its type.
fn typed(spec: &OptionSpec, options: &OptionValues) -> Value {
    let text = options.text(spec.name);
    let number = match spec.kind {
        OptionKind::Bool => return Value::Bool(options.flag(spec.name)),
        OptionKind::Int { .. } => text.parse::<i64>().ok().map(Number::from),
        OptionKind::Float { .. } => text.parse().ok().and_then(Number::from_f64),
        _ => None,
    };
    number.map_or_else(|| Value::String(text.into()), Value::Number)
}
