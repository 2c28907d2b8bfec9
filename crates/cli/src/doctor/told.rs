//! What doctor tells: a line for each check as it is made, or all of them as JSON at the end.

use crate::texts::doctor as texts;
use serde_json::{Map, Value, json};
use std::cell::RefCell;
use std::rc::Rc;
use tidemark_core::Target;
use tidemark_report::Lang;

/// What a check is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Area {
    /// Whether the target can be used.
    Target,
    /// What a run would observe.
    Sources,
    /// What would spoil a run.
    Conditions,
    /// The statements of the workloads.
    Statements,
}

impl Area {
    fn name(self) -> &'static str {
        match self {
            Area::Target => "target",
            Area::Sources => "sources",
            Area::Conditions => "conditions",
            Area::Statements => "statements",
        }
    }
}

/// What came of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckLevel {
    /// As it should be.
    Ok,
    /// To be known.
    Note,
    /// It spoils results.
    Warning,
    /// It was not checked.
    Skipped,
    /// The target can't be used so.
    Failed,
}

impl CheckLevel {
    fn name(self) -> &'static str {
        match self {
            CheckLevel::Ok => "ok",
            CheckLevel::Note => "note",
            CheckLevel::Warning => "warning",
            CheckLevel::Skipped => "skipped",
            CheckLevel::Failed => "failed",
        }
    }

    fn line(self, lang: Lang, says: &str) -> String {
        match self {
            CheckLevel::Ok => texts::ok(lang, says),
            CheckLevel::Note => texts::note(lang, says),
            CheckLevel::Warning => texts::warning(lang, says),
            CheckLevel::Skipped => texts::skipped(lang, says),
            CheckLevel::Failed => texts::failed(lang, says),
        }
    }
}

/// Tells, and remembers what was told.
#[derive(Debug, Clone)]
pub struct Teller {
    /// The language of its lines.
    pub lang: Lang,
    is_json: bool,
    told: Rc<RefCell<CheckResults>>,
}

#[derive(Debug, Default)]
struct CheckResults {
    checks: Vec<Value>,
    warnings: usize,
}

impl Teller {
    /// As lines, or as JSON.
    pub fn new(lang: Lang, is_json: bool) -> Self {
        Self {
            lang,
            is_json,
            told: Rc::default(),
        }
    }

    /// A line that is no check.
    pub fn line(&self, says: &str) {
        if !self.is_json {
            say!("{says}");
        }
    }

    /// What came of a check. Its name is for programs.
    pub fn tell(&self, area: Area, level: CheckLevel, check: &str, says: &str) {
        self.tell_with(area, level, check, says, Map::new());
    }

    /// The same with figures for programs.
    pub fn tell_with(
        &self,
        area: Area,
        level: CheckLevel,
        check: &str,
        says: &str,
        figures: Map<String, Value>,
    ) {
        self.line(&level.line(self.lang, says));
        let mut told = self.told.borrow_mut();
        told.warnings += usize::from(level == CheckLevel::Warning);
        let mut one = figures;
        one.insert("area".into(), area.name().into());
        one.insert("level".into(), level.name().into());
        one.insert("check".into(), check.into());
        one.insert("says".into(), says.into());
        told.checks.push(Value::Object(one));
    }

    /// How many warnings were told.
    pub fn warnings(&self) -> usize {
        self.told.borrow().warnings
    }

    /// Prints the JSON document, if that is asked for.
    pub fn end(&self, target: &Target, passed: bool) {
        if self.is_json {
            let told = self.told.borrow();
            let all = json!({
                "target": target.to_string(),
                "passed": passed,
                "warnings": told.warnings,
                "checks": told.checks,
            });
            say!("{all:#}");
        }
    }
}
