//! What is done with a table that may be there already. Nothing of the user's is destroyed.

use super::{LoadSpec, Replace, statement};
use crate::error::EngineError;
use tidemark_core::ErrorClass;
use tidemark_drivers::Session;
use tidemark_drivers::catalog::{self, TableDescription};
use tidemark_drivers::journal::{Journal, Part, State};
use tidemark_workloads::{TablePlan, Workload};

/// How every mark of Tidemark's begins.
const MARK: &str = "tidemark:";

/// What is done with one table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Decision {
    /// It is not there.
    Create,
    /// It is dropped and made anew.
    Recreate,
    /// An unfinished load of the same rows goes on; these chunks of units are there.
    Resume { chunks: Vec<(u64, u64)> },
}

impl Decision {
    pub fn drop_first(&self) -> bool {
        *self == Decision::Recreate
    }

    /// Whether what is there stays.
    pub fn goes_on(&self) -> bool {
        matches!(self, Decision::Resume { .. })
    }

    /// Rows of the table numbered `index` that are there.
    pub fn rows_there(&self, workload: &dyn Workload, index: usize, seed: u64) -> u64 {
        let count = |(first, units): &(u64, u64)| workload.row_count(index, *first, *units, seed);
        match self {
            Decision::Resume { chunks } => chunks.iter().map(count).sum(),
            _ => 0,
        }
    }
}

/// The mark of a table while it is loaded: what was asked, so that only the same load goes on.
pub(super) fn mark_loading(plan: &TablePlan, spec: &LoadSpec) -> String {
    let digest = digest(plan);
    format!(
        "{MARK}loading rows={} seed={} plan={digest:08x}",
        plan.rows, spec.seed
    )
}

/// Tells plans with other schemas apart: FNV-1a over all their statements (Fowler, Noll, Vo).
fn digest(plan: &TablePlan) -> u32 {
    let before = plan.create.iter().chain(&plan.indexes).chain(&plan.finish);
    let texts = before.chain(&plan.after_all);
    let bytes = texts.flat_map(|sql| sql.bytes());
    bytes.fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

/// Tells loads apart: which tables, of what schema, with which rows.
pub(super) fn digest_of_all(plans: &[TablePlan], spec: &LoadSpec) -> u64 {
    let marks = plans.iter().map(|plan| (plan, mark_loading(plan, spec)));
    let texts = marks.map(|(plan, mark)| format!("{} {mark}\n", plan.name));
    let all: String = texts.collect();
    all.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The mark of a table that was loaded and verified.
pub(super) fn mark_loaded(plan: &TablePlan, seed: u64) -> String {
    let digest = digest(plan);
    format!(
        "{MARK}loaded rows={} seed={seed} plan={digest:08x}",
        plan.rows
    )
}

/// Waits until nothing is left of an unfinished load that is to go on: what its client's sessions
/// were doing when it was killed, the server may still be doing.
///
/// # Errors
/// [`EngineError::Refused`] when that does not end.
pub(super) async fn settle(
    session: &mut Session,
    plan: &TablePlan,
    spec: &LoadSpec,
) -> Result<(), EngineError> {
    let table = &plan.name;
    let mark = catalog::table_mark(session, table)
        .await
        .map_err(statement)?;
    if mark != Some(mark_loading(plan, spec)) {
        return Ok(());
    }
    match catalog::wait_for_writers(session, table).await {
        Err(e) if e.class == ErrorClass::Retryable => Err(EngineError::Refused(format!(
            "table {table} is unfinished, and another session has been writing into it for more \
             than a minute ({e}); nothing was changed. End that session and try again"
        ))),
        done => done.map_err(statement),
    }
}

/// Decides for one table, by what is there and what was asked.
///
/// # Errors
/// [`EngineError::Refused`] when something is there that may not be dropped.
pub(super) async fn decide(
    session: &mut Session,
    workload: &dyn Workload,
    plan: &TablePlan,
    spec: &LoadSpec,
    journal: Option<&Journal>,
) -> Result<Decision, EngineError> {
    let found = catalog::describe_table(session, &plan.name)
        .await
        .map_err(statement)?;
    let Some(found) = found else {
        return Ok(Decision::Create);
    };
    refuse_no_table(&found)?;
    let mark = found.comment.as_deref().unwrap_or_default();
    // Tables are verified one after another, and a client may be killed in between.
    let is_part = |j: &Journal| {
        mark == mark_loading(plan, spec)
            || mark == mark_loaded(plan, spec.seed) && j.of(&plan.name).next().is_some()
    };
    // Where nothing is rolled back, rows of a chunk that was cut off are there without its line in
    // the journal.
    if let Some(journal) = journal.filter(|j| is_part(j))
        && spec.replace == Replace::Nothing
        && catalog::is_transactional(session, &plan.name)
            .await
            .map_err(statement)?
    {
        let done = journal.of(&plan.name).filter(|l| l.state == State::Done);
        let chunks = done.filter_map(|line| match line.part {
            Part::Chunk { first, units } => Some((first, units)),
            _ => None,
        });
        let chunks = chunks.collect();
        return Ok(Decision::Resume { chunks });
    }
    // Its rows can't be told from what is missing, or are to be dropped.
    let not_ours = why_not_ours(workload, &found);
    let same = mark == mark_loading(plan, spec) && not_ours.is_none();
    if same || spec.replace == Replace::Anything {
        return Ok(Decision::Recreate);
    }
    let rows = catalog::row_count(session, &plan.name)
        .await
        .map_err(statement)?;
    let begun = rows > 0 || journal.is_some_and(Journal::has_rows);
    if let Some(asked) = Asked::of(mark)
        && spec.replace == Replace::Nothing
        && begun
    {
        return Err(EngineError::Refused(asked.otherwise(plan, spec)));
    }
    let table = &plan.name;
    Err(EngineError::Refused(match not_ours {
        None if rows == 0 || spec.replace == Replace::Benchmark => return Ok(Decision::Recreate),
        None => format!(
            "table {table} is there already with {rows} rows of this benchmark; nothing was \
             changed. To drop it and load it again, add --replace"
        ),
        Some(why) => format!(
            "table {table} is there already and is not the benchmark's: it has {rows} rows and \
             {why}; nothing was changed. Use another database, or add --force to drop it"
        ),
    }))
}

/// What an unfinished load was to make of a table, by its mark.
#[derive(Debug, PartialEq, Eq)]
struct Asked<'m> {
    rows: &'m str,
    seed: &'m str,
}

impl<'m> Asked<'m> {
    fn of(mark: &'m str) -> Option<Self> {
        let rest = mark.strip_prefix(MARK)?.strip_prefix("loading rows=")?;
        let (rows, rest) = rest.split_once(" seed=")?;
        let seed = rest.split(' ').next()?;
        Some(Self { rows, seed })
    }

    /// Why another load doesn't take its place: the difference may be a slip.
    fn otherwise(&self, plan: &TablePlan, spec: &LoadSpec) -> String {
        let same = |rows: &str, seed: &str| self.rows == rows && self.seed == seed;
        let (rows, seed) = (plan.rows.to_string(), spec.seed.to_string());
        let differs = if same(&rows, &seed) {
            format!("{rows} rows in another schema than")
        } else if self.seed == seed {
            format!("{} rows, and not {rows} as", self.rows)
        } else {
            format!(
                "{} rows from the seed {}, and not {rows} from {seed} as",
                self.rows, self.seed
            )
        };
        format!(
            "the load of table {} did not end: it is of {differs} this one; nothing was changed. \
             Ask for the same as then, and it goes on; or, to begin this one, add --replace",
            plan.name
        )
    }
}

/// A view occupies a table's name, and is nobody's to drop but its maker's; so is a sequence.
///
/// # Errors
/// [`EngineError::Refused`].
pub(super) fn refuse_no_table(found: &TableDescription) -> Result<(), EngineError> {
    match found.no_table {
        None => Ok(()),
        Some(kind) => Err(EngineError::Refused(format!(
            "{} is there already and is no table but {kind}; nothing was changed. Use another \
             database, or drop it yourself",
            found.name
        ))),
    }
}

/// Tables that are not to be dropped while others refer to them: the server would refuse it half-way.
///
/// # Errors
/// [`EngineError::Refused`] when a table that is none of `benchmark` refers to one of `drop`.
pub(super) async fn refuse_referrers(
    session: &mut Session,
    drop: &[String],
    benchmark: &[String],
) -> Result<(), EngineError> {
    let found = catalog::referrers(session, drop).await.map_err(statement)?;
    let is_other = |r: &&catalog::Reference| {
        !r.child
            .as_ref()
            .is_some_and(|child| benchmark.contains(child))
    };
    let others: Vec<_> = found.iter().filter(is_other).collect();
    let Some(first) = others.first() else {
        return Ok(());
    };
    let more = match others.len() {
        1 => String::new(),
        n => format!(" (and {} more such keys)", n - 1),
    };
    Err(EngineError::Refused(format!(
        "table {} has a foreign key that refers to table {}{more}, which was to be dropped; nothing \
         was changed. Drop that key or table yourself, or use another database; --force has the \
         server decide",
        first.shown, first.parent
    )))
}

/// Whether a table's load did not end: rows or indexes are missing.
pub fn is_unfinished(found: &TableDescription) -> bool {
    let loading = format!("{MARK}loading ");
    found
        .comment
        .as_deref()
        .is_some_and(|mark| mark.starts_with(&loading))
}

/// Whether a mark says that Tidemark loaded its table to the end.
pub fn is_marked_loaded(mark: &str) -> bool {
    mark.strip_prefix(MARK)
        .is_some_and(|rest| rest.starts_with("loaded "))
}

/// Whether a run may use a table as one of the benchmark's. What the user did to a table that
/// Tidemark made is measured as it is.
pub fn is_ours(workload: &dyn Workload, found: &TableDescription) -> bool {
    found.no_table.is_none() && (bears_mark(workload, found) || workload.recognises(found))
}

fn bears_mark(workload: &dyn Workload, found: &TableDescription) -> bool {
    let mark = found.comment.as_deref().unwrap_or_default();
    mark.starts_with(MARK) && workload.can_be(found)
}

/// Why a table may not be dropped as one of the benchmark's, as what it has; `None` when it may. The
/// mark alone proves nothing of what the user has added since.
pub fn why_not_ours(workload: &dyn Workload, found: &TableDescription) -> Option<String> {
    if let Some(kind) = found.no_table {
        return Some(format!("the form of {kind}"));
    }
    // How its rows are spread is no data of the user's.
    let whole = TableDescription {
        partitions: None,
        ..found.clone()
    };
    let marked = bears_mark(workload, found);
    if marked && workload.has_its_columns(found) && workload.additions(&whole).is_empty() {
        return None;
    }
    if workload.recognises(found) {
        return None;
    }
    let additions = workload.additions(if marked { &whole } else { found });
    let bare = TableDescription {
        foreign_keys: Vec::new(),
        extras: Vec::new(),
        ..whole
    };
    let is_its_shape = match marked {
        true => workload.has_its_columns(&bare),
        false => workload.recognises(&bare),
    };
    let mut words = Vec::new();
    if !is_its_shape || additions.is_empty() {
        let columns = found.columns.iter();
        let columns: Vec<_> = columns
            .map(|c| format!("{} {}", c.name, c.type_name))
            .collect();
        words.push(format!("the columns {}", columns.join(", ")));
    }
    if !additions.is_empty() {
        let additions = additions.join(", ");
        words.push(format!("what the benchmark's have not: {additions}"));
    }
    Some(words.join(", and "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_that_is_not_the_same_is_told_by_what_differs() {
        let plan = |rows, create: &str| TablePlan {
            name: "warehouse".into(),
            rows,
            create: vec![create.into()],
            ..TablePlan::default()
        };
        let seeded = |seed| LoadSpec {
            seed,
            ..LoadSpec::default()
        };
        let mark = mark_loading(&plan(4, "a"), &seeded(7));
        for (rows, seed, words) in [
            (5, 7, "it is of 4 rows, and not 5 as this one"),
            (
                4,
                8,
                "it is of 4 rows from the seed 7, and not 4 from 8 as this one",
            ),
            (4, 7, "it is of 4 rows in another schema than this one"),
        ] {
            let said = Asked::of(&mark).unwrap();
            let said = said.otherwise(&plan(rows, "b"), &seeded(seed));
            assert!(said.contains(words), "{said}");
        }
        let loaded = mark_loaded(&plan(4, "a"), 7);
        assert_eq!(Asked::of(&loaded), None);
        assert_eq!(Asked::of("tidemark:loading"), None);
    }
}
