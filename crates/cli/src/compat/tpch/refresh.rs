//! What RF1 and RF2 may change, and changing it back.
//!
//! Only tables whose load Tidemark's mark proves are changed, and only where every row under the
//! keys of a set is as it was loaded. Before the first change the mark says how many sets may be in
//! the tables, and of which scale factor they are; when they are put back it says so no more. A run
//! that was killed meanwhile leaves it, and the next one puts the tables back before it asks anything.

use super::test_plan::TestPlan;
use super::unchanged_rows::{RefreshState, strange_row};
use crate::exit::{ExitCode, Failure};
use std::sync::Arc;
use std::time::Duration;
use tidemark_core::{DbError, ErrorClass, ErrorKind};
use tidemark_drivers::{Connector, Dialect, catalog};
use tidemark_engine::{
    Changes, StepOutcome, StepResult, StopHandle, Stream, StreamStep, StreamsObserver, StreamsSpec,
    is_marked_loaded, run_streams,
};
use tidemark_runtime::block_on;
use tidemark_workloads::Workload;
use tidemark_workloads::tpch::{RefreshSet, SETS, Strangeness};

/// The tables that change, each with a mark.
const CHANGED: [&str; 2] = ["orders", "lineitem"];
/// What stands in a mark before the number of sets that may be in the table.
const REFRESHED: &str = " refreshed=";
/// What stands behind that number, before their scale factor.
const SCALE: &str = " sf=";
/// What stands in a mark before the number of rows that were loaded.
const ROWS: &str = " rows=";

/// What the marks say.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Marks {
    /// The marks without what is said of refreshes.
    loaded: Vec<Option<String>>,
    /// Sets that may be in the tables.
    pub sets: u64,
    /// The scale factor of these sets; `None` when the marks don't say.
    pub scale: Option<f64>,
}

impl Marks {
    /// Reads them.
    ///
    /// # Errors
    /// [`Failure`] of the connection or of the server.
    pub fn read(connector: &Connector) -> Result<Self, Failure> {
        let connector = connector.clone().unlimited();
        let read = block_on(async move {
            let mut session = connector.connect(0).await?;
            let mut marks = Vec::new();
            for table in CHANGED {
                marks.push(catalog::table_mark(&mut session, table).await?);
            }
            session.close().await;
            Ok::<_, DbError>(marks)
        });
        Ok(Self::of(read.map_err(system)??))
    }

    fn of(marks: Vec<Option<String>>) -> Self {
        let parts: Vec<_> = marks
            .into_iter()
            .map(|mark| match mark {
                None => (None, 0, None),
                Some(mark) => match mark.split_once(REFRESHED) {
                    None => (Some(mark), 0, None),
                    Some((loaded, changed)) => {
                        let (sets, scale) = changed.split_once(SCALE).unwrap_or((changed, ""));
                        let sets = sets.parse().unwrap_or(SETS);
                        (Some(loaded.to_string()), sets, scale.parse().ok())
                    }
                },
            })
            .collect();
        Self {
            sets: parts.iter().map(|(_, sets, _)| *sets).max().unwrap_or(0),
            scale: parts.iter().find_map(|(_, _, scale)| *scale),
            loaded: parts.into_iter().map(|(mark, ..)| mark).collect(),
        }
    }

    /// Rows that were loaded into orders; `None` when no mark of Tidemark's tells.
    pub fn orders(&self) -> Option<u64> {
        let mark = self
            .loaded
            .first()?
            .as_deref()
            .filter(|m| is_marked_loaded(m))?;
        let (_, rows) = mark.split_once(ROWS)?;
        rows.split(' ').next()?.parse().ok()
    }

    /// Whether Tidemark's own marks prove that it loaded the tables.
    ///
    /// # Errors
    /// [`ExitCode::Refused`].
    pub fn must_be_ours(&self) -> Result<(), Failure> {
        let ours = |mark: &Option<String>| mark.as_deref().is_some_and(is_marked_loaded);
        match CHANGED
            .iter()
            .zip(&self.loaded)
            .find(|(_, mark)| !ours(mark))
        {
            None => Ok(()),
            Some((table, _)) => Err(Failure::new(
                ExitCode::Refused,
                format!(
                    "table {table} was not loaded by Tidemark, and RF1 and RF2 would change it; \
                     nothing was run. Load it with tidemark tpch prepare, or skip the refreshes \
                     with --refresh=off"
                ),
            )),
        }
    }

    /// Writes them: so many sets of that scale factor may be in the tables.
    ///
    /// # Errors
    /// [`Failure`] of the connection or of the server.
    pub fn write(&self, connector: &Connector, sets: u64, scale: f64) -> Result<(), Failure> {
        let connector = connector.clone().unlimited();
        let loaded = self.loaded.clone();
        let written = block_on(async move {
            let mut session = connector.connect(0).await?;
            for (table, mark) in CHANGED.into_iter().zip(loaded.into_iter().flatten()) {
                let mark = match sets {
                    0 => mark,
                    sets => format!("{mark}{REFRESHED}{sets}{SCALE}{scale}"),
                };
                catalog::mark_table(&mut session, table, &mark).await?;
            }
            session.close().await;
            Ok::<_, DbError>(())
        });
        Ok(written.map_err(system)??)
    }

    /// Puts the tables back as they were loaded, whatever of so many sets is in them, and looks
    /// whether they are.
    ///
    /// # Errors
    /// [`ExitCode::Refused`] before anything was put back where a row is neither the load's nor RF1's;
    /// [`Failure`] of the connection or of the server, and by `stop`. The marks stay as they are then.
    pub fn put_back(
        &self,
        connector: &Connector,
        workload: &Arc<dyn Workload>,
        asked: &TestPlan,
        sets: u64,
        dialect: Dialect,
        stop: &StopHandle,
    ) -> Result<(), Failure> {
        let sets = sets_of(workload, asked, sets, dialect);
        let looked = strange_row(
            RefreshState::Refreshed,
            connector,
            sets.clone(),
            (dialect, asked.lang),
            stop,
        )?;
        if let Some(strange) = looked {
            return Err(Failure::new(
                ExitCode::Refused,
                format!(
                    "orders and lineitem still have the changes of RF1 and RF2: {strange} and is \
                     not one of RF1's, so restoring the tables would delete or overwrite it. \
                     Move it, and the next run restores the tables; or reload: prepare --dropdata"
                ),
            ));
        }
        let step = |(set, number): (RefreshSet, u64)| {
            let changes: Changes = Arc::new(move || Box::new(set.undoing()));
            StreamStep::Change {
                name: format!("set {number}"),
                changes,
            }
        };
        let stream = Stream {
            number: 0,
            steps: sets.iter().cloned().zip(1..).map(step).collect(),
            first: 0,
        };
        let mut failed = FirstFailure::default();
        let spec = StreamsSpec {
            // Limits for users' queries are none for this.
            setup: dialect
                .unlimit_queries()
                .map(String::from)
                .into_iter()
                .collect(),
            ..StreamsSpec::default()
        };
        run_streams(connector, &[stream], &spec, stop, &mut failed)?;
        let still = |why: String| {
            let said = format!("orders and lineitem still have the changes of RF1 and RF2: {why}");
            Err(Failure::new(ExitCode::Failed, said))
        };
        if let Some(error) = failed.0 {
            return still(error.to_string());
        }
        match strange_row(
            RefreshState::AsLoaded,
            connector,
            sets,
            (dialect, asked.lang),
            stop,
        ) {
            Ok(None) => self.write(connector, 0, asked.scale),
            Ok(Some(strange)) => still(strange.to_string()),
            Err(failure) => Err(Failure::new(
                failure.code,
                format!("orders and lineitem were restored but could not be checked: {failure}"),
            )),
        }
    }
}

/// Whether a run's sets may be done: all rows under their keys are those of the load.
///
/// # Errors
/// [`ExitCode::Refused`]; [`Failure`] of the connection or of the server, and by `stop`.
pub(super) fn must_be_as_loaded(
    connector: &Connector,
    workload: &Arc<dyn Workload>,
    asked: &TestPlan,
    dialect: Dialect,
    prepare: &str,
    stop: &StopHandle,
) -> Result<(), Failure> {
    let sets = sets_of(workload, asked, asked.sets(), dialect);
    match strange_row(
        RefreshState::AsLoaded,
        connector,
        sets,
        (dialect, asked.lang),
        stop,
    )? {
        None => Ok(()),
        Some(strange) => Err(Failure::new(
            ExitCode::Refused,
            format!(
                "{strange}; RF1 and RF2 change rows with such keys, and the tables are restored \
                 to the loaded state afterwards; nothing was run. {}oad again: {prepare} \
                 --dropdata; or skip the refreshes with --refresh=off",
                match strange.what {
                    Strangeness::Foreign => "Move it; or rel",
                    Strangeness::Changed | Strangeness::Missing => "L",
                }
            ),
        )),
    }
}

/// The first so many sets.
fn sets_of(
    workload: &Arc<dyn Workload>,
    asked: &TestPlan,
    sets: u64,
    dialect: Dialect,
) -> Vec<RefreshSet> {
    let set = |number| RefreshSet::new(workload, asked.scale, number, dialect);
    (1..=sets).filter_map(set).collect()
}

fn system(error: std::io::Error) -> Failure {
    Failure::new(ExitCode::Failed, error.to_string())
}

#[derive(Default)]
struct FirstFailure(Option<DbError>);

impl StreamsObserver for FirstFailure {
    fn started(&mut self, _ahead: Duration) {}
    fn ended(&mut self, result: StepResult) {
        let error = match result.outcome {
            StepOutcome::Done(_) => return,
            StepOutcome::Failed(error) => error,
            StepOutcome::TimedOut => DbError::own(
                ErrorClass::Fatal,
                ErrorKind::StatementTimeout,
                format!(
                    "{}: the server cancelled a statement by its own time limit",
                    result.name
                ),
            ),
        };
        self.0.get_or_insert(error);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use tidemark_drivers::RowSet;

    #[test]
    fn marks_tell_what_may_be_in_the_tables() {
        let marks = |a: &str, b: &str| Marks::of(vec![Some(a.into()), Some(b.into())]);
        assert_eq!(marks("tidemark:loaded rows=1", "x").sets, 0);
        let refreshed = marks(
            "tidemark:loaded rows=1 refreshed=3 sf=0.01",
            "tidemark:loaded rows=2",
        );
        assert_eq!((refreshed.sets, refreshed.scale), (3, Some(0.01)));
        assert_eq!(refreshed.orders(), Some(1));
        assert_eq!(marks("tidemark:loaded refreshed=x", "").sets, SETS);
        assert_eq!(marks("orders of 2020 rows=7", "").orders(), None);
        assert_eq!(
            refreshed.loaded[0].as_deref(),
            Some("tidemark:loaded rows=1")
        );
        assert!(refreshed.must_be_ours().is_ok());
        let others = Marks::of(vec![Some("tidemark:loaded rows=1".into()), None]);
        assert_eq!(others.must_be_ours().unwrap_err().code, ExitCode::Refused);
    }

    #[test]
    fn a_step_that_ran_out_of_time_was_not_done() {
        let mut seen = FirstFailure::default();
        let mut ended = |outcome| {
            seen.ended(StepResult {
                stream: 0,
                step: 0,
                name: "set 1".into(),
                began: Duration::ZERO,
                took: Duration::ZERO,
                outcome,
            });
            seen.0.as_ref().map(ToString::to_string)
        };
        assert_eq!(ended(StepOutcome::Done(RowSet::new())), None);
        let said = ended(StepOutcome::TimedOut).unwrap_or_default();
        assert!(said.contains("set 1: the server cancelled"), "{said}");
    }
}
