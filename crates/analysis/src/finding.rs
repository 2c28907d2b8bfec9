//! One statement about a run, with its evidence.

use serde::Serialize;

/// How much a finding takes from the figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Worth knowing; the figures stand.
    Note,
    /// The figures may mislead.
    Suspect,
    /// The figures must not be used.
    Invalid,
}

impl Severity {
    /// Of figures that may mislead, or must not be used.
    pub(crate) fn invalid_if(must_not_be_used: bool) -> Self {
        match must_not_be_used {
            true => Severity::Invalid,
            false => Severity::Suspect,
        }
    }
}

/// A sentence in both languages; `{name}` stands for a figure of the finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Both {
    /// English.
    pub en: &'static str,
    /// Chinese (simplified).
    pub zh: &'static str,
}

/// One piece of evidence.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Figure {
    /// A whole number.
    Count(u64),
    /// Any number; its unit is in the sentence.
    Number(f64),
    /// Words from the record: a table, a transaction type. They may hold anything.
    Text(String),
    /// Words of ours.
    Words(Both),
    /// Words of ours and from the record, put together.
    Composed {
        /// English.
        en: String,
        /// Chinese (simplified).
        zh: String,
    },
}

/// One statement about a run or a comparison, with its evidence.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// The rule's id.
    pub rule: &'static str,
    /// How much it takes from the figures.
    pub severity: Severity,
    /// What was seen.
    pub says: Both,
    /// What to do instead.
    pub instead: Both,
    /// The evidence, by the names in the sentences.
    pub figures: Vec<(&'static str, Figure)>,
}

/// A rule's statement with its evidence.
pub(crate) fn finding(
    rule: &'static str,
    severity: Severity,
    says: Both,
    instead: Both,
    figures: Vec<(&'static str, Figure)>,
) -> Finding {
    Finding {
        rule,
        severity,
        says,
        instead,
        figures,
    }
}

impl Finding {
    /// A figure by its name.
    pub fn figure(&self, name: &str) -> Option<&Figure> {
        let found = self.figures.iter().find(|(n, _)| *n == name);
        found.map(|(_, figure)| figure)
    }
}
