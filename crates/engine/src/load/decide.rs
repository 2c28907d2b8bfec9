//! What is done with a table that may be there already. Nothing of the user's is destroyed.

use super::{LoadSpec, Replace, statement};
use crate::error::EngineError;
use tidemark_core::ErrorClass;
use tidemark_drivers::journal::{Journal, Part, State};
use tidemark_drivers::{Session, catalog};
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
    refuse_view(session, &plan.name).await?;
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
    let same = mark == mark_loading(plan, spec) && workload.can_be(&found);
    if same || spec.replace == Replace::Anything {
        return Ok(Decision::Recreate);
    }
    let ours = is_ours(workload, &found);
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
    if ours && (rows == 0 || spec.replace == Replace::Benchmark) {
        return Ok(Decision::Recreate);
    }
    let table = &plan.name;
    Err(EngineError::Refused(if ours {
        format!(
            "table {table} is there already with {rows} rows of this benchmark; nothing was \
             changed. To drop it and load it again, add --replace"
        )
    } else {
        let columns: Vec<_> = found
            .columns
            .iter()
            .map(|c| format!("{} {}", c.name, c.type_name))
            .collect();
        format!(
            "table {table} is there already and is not the benchmark's: it has {rows} rows and \
             the columns {}; nothing was changed. Use another database, or add --force to drop it",
            columns.join(", ")
        )
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

/// A view occupies a table's name, and is nobody's to drop but its maker's.
///
/// # Errors
/// [`EngineError::Refused`].
pub(super) async fn refuse_view(session: &mut Session, name: &str) -> Result<(), EngineError> {
    let tables = catalog::list_tables(session).await.map_err(statement)?;
    if tables.iter().any(|table| table == name) {
        return Ok(());
    }
    Err(EngineError::Refused(format!(
        "{name} is there already and is no table but a view; nothing was changed. Use another \
         database, or drop the view yourself"
    )))
}

/// Whether a table's load did not end: rows or indexes are missing.
pub fn is_unfinished(found: &catalog::TableDescription) -> bool {
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

/// Whether a table may be dropped as one of the benchmark's.
pub fn is_ours(workload: &dyn Workload, found: &catalog::TableDescription) -> bool {
    let mark = found.comment.as_deref().unwrap_or_default();
    mark.starts_with(MARK) && workload.can_be(found) || workload.recognises(found)
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
