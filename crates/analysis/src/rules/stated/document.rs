//! What a run states beside what its document's other runs do.

use super::equations::Equation;
use super::view::{ImportedRun, Range};
use super::{counted, finding};
use crate::texts::littles_law;
use crate::texts::{follows, summary_mismatch};
use crate::thresholds::{STATEMENTS_EACH_APART, USERS_SEEN, USERS_SEEN_MOST};
use crate::{Figure, Finding, Severity};

/// Sums of clients whose outputs stand one by one.
pub(super) fn equations(view: &ImportedRun<'_>) -> Vec<Equation> {
    let names = ["rate", "statement_rate", "tpmc", "nopm"];
    let all = names.into_iter().map(|name| Equation {
        of: String::new(),
        name: name.into(),
        follows: "clients apart",
        stated: view.all(name),
        made: view.beside(&format!("clients_{name}")),
        share: 0.001,
        apart: 0.0,
    });
    all.collect()
}

/// Statements of a transaction: counted ones, or those that sessions and the mean latency allow.
fn statements_each(view: &ImportedRun<'_>) -> Option<Range> {
    let statements = view.all("statement_rate")?;
    if let Some(rate) = view.all("rate") {
        return Some(statements.per(rate));
    }
    let (sessions, mean) = (view.sessions()?, view.all("mean_ms")?);
    let busy = statements.times(mean);
    Some(busy.per(Range::exact(1000.0 * sessions, mean.line)))
}

/// A row whose transactions have other statements than those of all other rows of its table.
pub(super) fn other_statements(view: &ImportedRun<'_>) -> Option<Finding> {
    let others = view.beside("others_statements_each")?;
    let own = statements_each(view)?;
    if own.may_be(others, STATEMENTS_EACH_APART, 0.0) {
        return None;
    }
    let name = match view.all("rate") {
        Some(_) => "statement_rate / rate",
        None => "statement_rate × mean_ms / threads",
    };
    let figures = vec![
        ("line", Figure::Count(own.line)),
        ("name", Figure::Text(name.into())),
        ("stated", Figure::Number(own.value)),
        ("from", Figure::Words(follows::ROWS)),
        ("made", Figure::Number(others.value)),
    ];
    let (says, instead) = (summary_mismatch::STATED, summary_mismatch::INSTEAD_STATED);
    Some(finding(
        super::equations::ID,
        Severity::Suspect,
        says,
        instead,
        figures,
    ))
}

/// Statements of a transaction of sysbench's workloads, with and without the two that begin and end
/// one: with all reads, and without ranges. Latency may be of a statement as well.
const STATEMENTS: [(&str, &[f64]); 7] = [
    ("point_select", &[1.0]),
    ("read_only", &[16.0, 14.0, 12.0, 10.0, 1.0]),
    ("read_write", &[20.0, 18.0, 16.0, 14.0, 1.0]),
    ("write_only", &[6.0, 4.0, 1.0]),
    ("update_index", &[1.0]),
    ("update_non_index", &[1.0]),
    ("insert", &[1.0]),
];

/// Little's law of a row that states statements a second and no transactions. `None` where the
/// statements of its transactions are not known, and more than one would fit.
pub(super) fn law_of_statements(view: &ImportedRun<'_>) -> Option<Vec<Finding>> {
    if view.all("rate").is_some() || view.imported.tool != "table" || !view.is_closed() {
        return None;
    }
    let (statements, mean) = (view.all("statement_rate")?, view.all("mean_ms")?);
    let sessions = view.sessions()?;
    let busy = statements.times(mean).per(Range::exact(1000.0, mean.line));
    let text = format!("{} {}", view.record.workload, view.imported.heading).to_lowercase();
    let mut named = STATEMENTS.iter().filter(|(name, _)| {
        let mut words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        words.any(|w| w == *name || w.strip_prefix("oltp_") == Some(*name))
    });
    // Where several are named it is none of them.
    let known = named.next().filter(|_| named.next().is_none());
    let told = |seen: f64, says, instead| {
        let figures = vec![
            ("asked", counted(sessions)),
            ("seen", Figure::Number(seen)),
            ("share", Figure::Number(seen / sessions * 100.0)),
            ("line", Figure::Count(statements.line)),
        ];
        vec![finding(
            "littles-law",
            Severity::Suspect,
            says,
            instead,
            figures,
        )]
    };
    let (few, few_instead) = (littles_law::TOO_FEW, littles_law::TOO_FEW_INSTEAD);
    let (many, many_instead) = (littles_law::TOO_MANY, littles_law::TOO_MANY_INSTEAD);
    // No transaction has less than one statement.
    if busy.high < USERS_SEEN * sessions {
        return Some(told(busy.value, few, few_instead));
    }
    let (_, each) = known?;
    let fits = each.iter().any(|n| {
        busy.high / n >= USERS_SEEN * sessions && busy.low / n <= USERS_SEEN_MOST * sessions
    });
    if fits {
        return Some(Vec::new());
    }
    let seen = busy.value / each.first().copied().unwrap_or(1.0);
    Some(match seen < sessions {
        true => told(seen, few, few_instead),
        false => told(seen, many, many_instead),
    })
}

/// A client of several whose share of the sessions is known, because the others have theirs, and that
/// does not fit its own figures.
pub(super) fn unlike_client(view: &ImportedRun<'_>) -> Option<Vec<Finding>> {
    let sessions = view.sessions().filter(|_| view.is_closed())?;
    let clients: Vec<&str> = view.imported.types();
    let clients = clients.into_iter().filter(|of| of.starts_with("client "));
    let busy: Vec<Range> = clients
        .map(|of| {
            let (rate, mean) = view.of(of, "rate").zip(view.of(of, "mean_ms"))?;
            Some(rate.times(mean).per(Range::exact(1000.0, mean.line)))
        })
        .collect::<Option<_>>()?;
    let own = sessions / busy.len() as f64;
    let works = |b: &Range| b.high >= USERS_SEEN * own && b.low <= USERS_SEEN_MOST * own;
    let wrong: Vec<&Range> = busy.iter().filter(|b| !works(b)).collect();
    // Clients may have different numbers of sessions: with all but one alike, the last has as many.
    let ([wrong], true) = (wrong.as_slice(), busy.len() > 1) else {
        return (wrong.is_empty() && !busy.is_empty()).then(Vec::new);
    };
    let (says, instead) = match wrong.value < own {
        true => (littles_law::TOO_FEW, littles_law::TOO_FEW_INSTEAD),
        false => (littles_law::TOO_MANY, littles_law::TOO_MANY_INSTEAD),
    };
    let figures = vec![
        ("asked", Figure::Number(own)),
        ("seen", Figure::Number(wrong.value)),
        ("share", Figure::Number(wrong.value / own * 100.0)),
        ("line", Figure::Count(wrong.line)),
    ];
    let severity = Severity::Suspect;
    Some(vec![finding(
        "littles-law",
        severity,
        says,
        instead,
        figures,
    )])
}
