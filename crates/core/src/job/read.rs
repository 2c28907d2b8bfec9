//! Jobs from JSON: of this version, without secrets, with nothing unknown.

use super::{JOB_VERSION, Job};
use crate::{Target, is_password_name, nearest, redact_url};
use serde_json::Value;

/// Why a text is no job. Each names the key's path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JobError {
    /// Not JSON, or its end is missing.
    #[error("line {line}, column {column}: {reason}")]
    Syntax {
        /// Line of the text, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What is wrong.
        reason: String,
    },
    /// No version is named.
    #[error("version: missing; a job of this Tidemark begins with \"version\": {JOB_VERSION}")]
    NoVersion,
    /// A newer Tidemark wrote it.
    #[error(
        "version: {0} is newer than the {JOB_VERSION} that this Tidemark reads; use the Tidemark that wrote it, or a newer one"
    )]
    Newer(u64),
    /// A secret.
    #[error(
        "{0}: a job contains no secrets; remove it and name an environment variable: \"target\": \
         {{\"url\": …, \"password\": {{\"env\": \"MYSQL_PWD\"}}}}"
    )]
    Secret(String),
    /// A key or a value that can't be.
    #[error("{path}: {reason}")]
    Value {
        /// Path of the key.
        path: String,
        /// What is wrong and what is right.
        reason: String,
    },
}

impl Job {
    /// Reads a job.
    ///
    /// # Errors
    /// [`JobError`] naming the key that is wrong.
    pub fn from_json(text: &str) -> Result<Self, JobError> {
        Self::from_value(syntax(text)?)
    }

    /// Reads one job, or a list of jobs.
    ///
    /// # Errors
    /// [`JobError`] naming the key that is wrong; an empty list is no job.
    pub fn list_from_json(text: &str) -> Result<Vec<Self>, JobError> {
        match syntax(text)? {
            Value::Array(jobs) if jobs.is_empty() => Err(JobError::Value {
                path: ".".into(),
                reason: "the list has no jobs".into(),
            }),
            Value::Array(jobs) => jobs.into_iter().map(Self::from_value).collect(),
            one => Self::from_value(one).map(|job| vec![job]),
        }
    }

    fn from_value(value: Value) -> Result<Self, JobError> {
        let Some(object) = value.as_object() else {
            return Err(JobError::Value {
                path: ".".into(),
                reason: "a job is an object; `--print-job` writes one".into(),
            });
        };
        match object.get("version") {
            None => return Err(JobError::NoVersion),
            Some(version) => match version.as_u64() {
                Some(version) if version > u64::from(JOB_VERSION) => {
                    return Err(JobError::Newer(version));
                }
                Some(1..) => {}
                _ => {
                    return Err(JobError::Value {
                        path: "version".into(),
                        reason: format!("must be a whole number, 1 to {JOB_VERSION}"),
                    });
                }
            },
        }
        if let Some(path) = secret(&value, String::new()) {
            return Err(JobError::Secret(path));
        }
        serde_path_to_error::deserialize(value).map_err(|error| {
            let path = error.path().to_string();
            JobError::Value {
                path,
                reason: worded(&error.into_inner().to_string()),
            }
        })
    }

    /// The job as JSON, for people.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

fn syntax(text: &str) -> Result<Value, JobError> {
    serde_json::from_str(text).map_err(|error| JobError::Syntax {
        line: error.line(),
        column: error.column(),
        reason: match error.is_eof() {
            true => "the job is truncated".into(),
            false => {
                let said = error.to_string();
                let end = said.find(" at line ").unwrap_or(said.len());
                said[..end].to_string()
            }
        },
    })
}

/// Path of the first key that is called as passwords are and has a text, or of a URL with a password.
fn secret(value: &Value, path: String) -> Option<String> {
    let below = |key: &str| match path.is_empty() {
        true => key.to_string(),
        false => format!("{path}.{key}"),
    };
    match value {
        Value::Object(object) => object.iter().find_map(|(key, value)| {
            let names_one = is_password_name(key) && value.as_str().is_some_and(|v| !v.is_empty());
            match names_one {
                true => Some(below(key)),
                false => secret(value, below(key)),
            }
        }),
        Value::Array(list) => list
            .iter()
            .enumerate()
            .find_map(|(n, value)| secret(value, format!("{path}[{n}]"))),
        Value::String(text) if has_password(text) => Some(path),
        _ => None,
    }
}

/// Whether a text is a URL with a password, also one that was hidden.
fn has_password(text: &str) -> bool {
    text.contains("://")
        && (redact_url(text) != text
            || Target::parse(text).is_ok_and(|target| !target.password.is_empty()))
}

/// serde's complaint, with the nearest known key of an unknown one.
fn worded(said: &str) -> String {
    let Some(rest) = said.strip_prefix("unknown field `") else {
        return said.to_string();
    };
    let mut words = rest.split('`');
    let unknown = words.next().unwrap_or_default();
    let known: Vec<&str> = words.skip(1).step_by(2).collect();
    let hint = match nearest(unknown, known.iter().copied()) {
        Some(near) => format!("did you mean {near}?"),
        None => format!("known: {}", known.join(", ")),
    };
    format!("unknown key; {hint}")
}
