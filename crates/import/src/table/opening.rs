//! A table's headings, and what its columns become by them and by what stands above.

use super::{TableReader, doc_draft};
use crate::beside::is_total;
use crate::captions::{
    is_of_variants, take_the_clients, take_the_heading, take_the_rate, take_the_unit,
};
use crate::cell::{narrow, plain, sessions_in};
use crate::doc::Doc;
use crate::draft::From;
use crate::groups::owners;
use crate::heading_forms::simplified;
use crate::heading_objectives::is_objective;
use crate::heading_units::states_unit;
use crate::heading_words::{SESSIONS, has_any};
use crate::headings::{ColumnMeaning, column, only_figure};
use crate::labels::client;
use crate::numeral::{Notation, numeral};
use crate::over_time::is_over_time;
use crate::own_csv;
use crate::scan::number;
use crate::unit::Unit;

impl TableReader {
    pub(super) fn begin(&mut self, names: Vec<String>, by: char, line: u64, doc: &mut Doc) {
        self.begin_as(names, by, line, false, doc);
    }

    /// The same, where a row has shown whether the rows are figures.
    pub(super) fn begin_as(
        &mut self,
        mut names: Vec<String>,
        by: char,
        line: u64,
        is_turned: bool,
        doc: &mut Doc,
    ) {
        self.finish(doc);
        doc.settle_heading();
        let mut columns: Vec<ColumnMeaning> = match own_csv::is_own(&names) {
            true => own_csv::columns(&mut names),
            false => names.iter().map(|n| column(n)).collect(),
        };
        let captions = [std::mem::take(&mut doc.caption), doc.heading().to_string()];
        let mut is_stated = false;
        for caption in &captions {
            is_stated |= take_the_unit(&mut columns, &names, caption);
            is_stated |= Unit::in_words(caption).is_some();
        }
        (self.unit_is_known, self.asked) = (is_stated, doc.unit);
        // Of a run, or of a transaction.
        for (column, name) in columns.iter_mut().zip(&names).skip(1) {
            let in_ms = matches!(&*column, ColumnMeaning::Figure(f, each) if f == "elapsed_s" && *each < 1.0);
            if in_ms && is_bare_time(name) {
                *column = ColumnMeaning::Unknown;
            }
        }
        let figures = columns
            .iter()
            .filter(|c| matches!(c, ColumnMeaning::Figure(..) | ColumnMeaning::Several(_)))
            .count();
        // Beside a source a target is a system.
        let has_source = names.iter().any(|n| is_source(n));
        let is_wanted = |n: &String| !has_source && is_goal(n);
        let is_change = |n: &str| matches!(column(n), ColumnMeaning::Change(_)) && !is_state(n);
        let is_kept = |n: &String| is_wanted(n) || is_change(n);
        let is_beside = |n: &String| is_unit(n) || is_remark(n) || is_kept(n);
        let beside = names
            .iter()
            .enumerate()
            .skip(1)
            .filter(|(_, n)| is_beside(n));
        self.beside = beside.map(|(at, _)| at).collect();
        let kept = names.iter().enumerate().skip(1);
        let kept = kept.filter(|(_, n)| is_kept(n));
        self.kept = kept.map(|(at, _)| at).collect();
        self.units = names.iter().position(|n| is_unit(n)).filter(|at| *at > 0);
        let rest: Vec<&String> = names.iter().skip(1).filter(|n| !is_beside(n)).collect();
        let values = [
            "value",
            "值",
            "数值",
            "结果",
            "result",
            "results",
            "actual",
            "measured",
            "实际",
            "实测",
            "实际值",
            "实测值",
        ];
        let is_word = |n: &str| values.contains(&n.trim().to_lowercase().as_str());
        let is_value = |n: &&String| {
            number(n.trim()).is_some_and(|(_, rest)| rest.trim().is_empty())
                || sessions_in(n).is_some()
                || is_word(n)
        };
        // `client 1` has no session, it is one of several clients.
        let is_of_clients = rest.iter().any(|n| client(n).is_some())
            && rest.iter().all(|n| client(n).is_some() || is_total(n));
        let has_beside = self.units.is_some() || !self.kept.is_empty();
        let all_are = !rest.is_empty() && rest.iter().all(is_value);
        // `MySQL 8.0` begins with no number, but `8.0` may be a version.
        if figures == 0 && is_of_clients {
            for name in rest {
                let mut draft = doc_draft(doc, line);
                (draft.client, draft.is_total) = (client(name), client(name).is_none());
                self.turned.push(draft);
            }
        } else if figures == 0 && all_are {
            self.only = captions.iter().find_map(|c| only_figure(c));
            let of_sessions = captions.iter().any(|c| is_of_sessions(c));
            for name in rest {
                let mut draft = doc_draft(doc, line);
                let named = plain(name);
                let is_level = of_sessions && !named.contains('.');
                let level = whole_number(&named).filter(|n| is_level && *n >= 1.0);
                if let Some(sessions) = sessions_in(name) {
                    draft.option("threads", &sessions.to_string(), line, From::Output);
                } else if let (Some(ColumnMeaning::Option(option)), Some(n)) =
                    (columns.first(), whole_number(&named))
                {
                    draft.option(option, &n.to_string(), line, From::Output);
                } else if let Some(n) = level {
                    draft.option("threads", &n.to_string(), line, From::Output);
                } else if !is_word(name) {
                    // A number without a word may be a version.
                    draft.option("variant", &named, line, From::Output);
                }
                self.turned.push(draft);
            }
        } else if figures == 0 && (is_turned || is_of_variants(&names, &rest, has_beside)) {
            self.by_variant = true;
            self.only = captions.iter().find_map(|c| only_figure(c));
            for name in rest {
                let mut draft = doc_draft(doc, line);
                draft.option("variant", &plain(name), line, From::Output);
                self.turned.push(draft);
            }
        } else if figures == 0
            && !captions
                .iter()
                .any(|caption| take_the_heading(&mut columns, &names, caption))
        {
            let [caption, _] = captions;
            (self.groups, self.above_groups) = (names, caption);
            return;
        }
        for caption in &captions {
            take_the_rate(&mut columns, &names, caption);
            if caption.to_lowercase().contains("pgbench") {
                take_the_clients(&mut columns, &names);
            }
        }
        for (column, name) in columns.iter_mut().zip(&names) {
            let (read, is_without) = self.in_unit(column.clone(), name);
            *column = read;
            self.without_unit.push(is_without);
        }
        self.notation.comma_is_free = by == ';';
        self.owners = owners(&names, &columns);
        self.over_time = is_over_time(&names, &columns).then_some(doc.done.len());
        self.told = vec![false; names.len()];
        (self.columns, self.names, self.by, self.open) = (columns, names, by, true);
    }

    /// A column of latencies in the unit that the user named, if nothing states another; whether there is
    /// none at all.
    pub(super) fn in_unit(&self, mut column: ColumnMeaning, name: &str) -> (ColumnMeaning, bool) {
        let is_latency = |name: &str| name.ends_with("_ms");
        let any = match &column {
            ColumnMeaning::Figure(name, _) => is_latency(name),
            ColumnMeaning::Several(all) => all.iter().any(|(name, _)| is_latency(name)),
            _ => false,
        };
        if !any || self.unit_is_known || states_unit(name) {
            return (column, false);
        }
        let Some(unit) = self.asked else {
            return (column, true);
        };
        match &mut column {
            ColumnMeaning::Figure(_, factor) => *factor = unit.ms(),
            ColumnMeaning::Several(all) => {
                for (_, factor) in all.iter_mut().filter(|(name, _)| is_latency(name)) {
                    *factor = unit.ms();
                }
            }
            _ => {}
        }
        (column, false)
    }
}

/// The number that a heading is.
fn whole_number(text: &str) -> Option<f64> {
    let (numeral, rest) = numeral(text)?;
    let (n, _) = numeral.value(Notation::default())?;
    (rest.trim().is_empty() && n.value >= 0.0).then_some(n.value)
}

/// Whether a caption says that what differs is the number of sessions, and states none itself.
fn is_of_sessions(caption: &str) -> bool {
    // `3.2` is the number of a part.
    let numbering = |c: char| c.is_ascii_digit() || matches!(c, '.' | ' ' | '、');
    let caption = caption.trim_start_matches(numbering);
    let lower = simplified(&narrow(caption)).to_lowercase();
    has_any(&lower, &lower, &SESSIONS) && !lower.contains(|c: char| c.is_ascii_digit())
}

/// Whether a heading says only that its column is of a time: `Time (ms)`.
fn is_bare_time(heading: &str) -> bool {
    let lower = plain(heading).to_lowercase();
    let name = lower.split(['(', '[']).next().unwrap_or_default();
    matches!(name.trim(), "time" | "时间")
}

/// Whether a column states the units of the rows' figures.
fn is_unit(heading: &str) -> bool {
    let lower = plain(heading).to_lowercase();
    matches!(lower.as_str(), "unit" | "units" | "单位" | "單位")
}

/// Whether a column has what is wanted of the rows' figures: `Goal`, `目标值`.
fn is_goal(heading: &str) -> bool {
    let is_figure = matches!(
        column(heading),
        ColumnMeaning::Figure(..) | ColumnMeaning::Several(_) | ColumnMeaning::Option(_)
    );
    !is_figure && is_objective(heading)
}

/// Whether a column is of the system from which something was moved.
pub(super) fn is_source(heading: &str) -> bool {
    let lower = plain(heading).to_lowercase();
    lower.starts_with("source") || lower.starts_with('源')
}

/// Whether a heading is of what was changed, and not of by how much: `Improved`, `Before change`, `对比版本`.
fn is_state(heading: &str) -> bool {
    const ENDS: [&str; 8] = ["前", "后", "後", "组", "組", "版", "版本", "方案"];
    const BEGINS: [&str; 10] = [
        "before",
        "after",
        "pre",
        "post",
        "with",
        "without",
        "improved",
        "changed",
        "increased",
        "decreased",
    ];
    let lower = plain(heading).to_lowercase();
    let first = lower.split(|c: char| !c.is_ascii_alphabetic()).next();
    ENDS.iter().any(|end| lower.ends_with(end)) || first.is_some_and(|word| BEGINS.contains(&word))
}

/// Whether a column is of words about its rows.
fn is_remark(heading: &str) -> bool {
    let lower = plain(heading).to_lowercase();
    let words = [
        "note",
        "notes",
        "remark",
        "remarks",
        "comment",
        "comments",
        "description",
        "备注",
        "说明",
        "描述",
    ];
    words.contains(&lower.as_str())
}
