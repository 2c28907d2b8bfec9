//! What RF1 and RF2 may change, and changing it back.
//!
//! Only tables whose load Tidemark's mark proves are changed. Before the first change the mark says
//! how many sets may be in the tables; when they are put back it says so no more. A run that was
//! killed meanwhile leaves it, and the next one puts the tables back before it asks anything.

use super::asked::Asked;
use crate::exit::{ExitCode, Failure};
use crate::interrupt;
use std::sync::Arc;
use tidemark_core::DbError;
use tidemark_drivers::{Connector, Dialect, catalog};
use tidemark_engine::{
    Changes, Step, StepOutcome, StepResult, Stream, StreamsObserver, StreamsSpec, is_marked_loaded,
    run_streams,
};
use tidemark_runtime::block_on;
use tidemark_workloads::Workload;
use tidemark_workloads::tpch::{RefreshSet, SETS};

/// The tables that change, each with a mark.
const CHANGED: [&str; 2] = ["orders", "lineitem"];
/// What stands in a mark before the number of sets that may be in the table.
const REFRESHED: &str = " refreshed=";

/// What the marks say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Marks {
    /// The marks without what is said of refreshes.
    loaded: Vec<Option<String>>,
    /// Sets that may be in the tables.
    pub sets: u64,
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
                None => (None, 0),
                Some(mark) => match mark.split_once(REFRESHED) {
                    None => (Some(mark), 0),
                    Some((loaded, sets)) => (Some(loaded.into()), sets.parse().unwrap_or(SETS)),
                },
            })
            .collect();
        Self {
            sets: parts.iter().map(|(_, sets)| *sets).max().unwrap_or(0),
            loaded: parts.into_iter().map(|(mark, _)| mark).collect(),
        }
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
                    "table {table} was not loaded by Tidemark, and RF1 and RF2 would change it: \
                     nothing was run. Load it by tidemark tpch prepare, or leave the changes out: \
                     --refresh=off"
                ),
            )),
        }
    }

    /// Writes them: so many sets may be in the tables.
    ///
    /// # Errors
    /// [`Failure`] of the connection or of the server.
    pub fn write(&self, connector: &Connector, sets: u64) -> Result<(), Failure> {
        let connector = connector.clone().unlimited();
        let loaded = self.loaded.clone();
        let written = block_on(async move {
            let mut session = connector.connect(0).await?;
            for (table, mark) in CHANGED.into_iter().zip(loaded.into_iter().flatten()) {
                let mark = match sets {
                    0 => mark,
                    sets => format!("{mark}{REFRESHED}{sets}"),
                };
                catalog::mark_table(&mut session, table, &mark).await?;
            }
            session.close().await;
            Ok::<_, DbError>(())
        });
        Ok(written.map_err(system)??)
    }

    /// Puts the tables back as they were loaded, whatever of so many sets is in them.
    ///
    /// # Errors
    /// [`Failure`] of the connection or of the server; the marks stay as they are then.
    pub fn put_back(
        &self,
        connector: &Connector,
        workload: &Arc<dyn Workload>,
        asked: &Asked,
        sets: u64,
        dialect: Dialect,
    ) -> Result<(), Failure> {
        let step = |number| {
            let set = RefreshSet::new(workload, asked.scale, number, dialect)?;
            let changes: Changes = Arc::new(move || Box::new(set.undoing()));
            Some(Step::Change {
                name: format!("set {number}"),
                changes,
            })
        };
        let stream = Stream {
            number: 0,
            steps: (1..=sets).filter_map(step).collect(),
            first: 0,
        };
        let mut failed = FirstFailure::default();
        let stop = interrupt::handle();
        let spec = StreamsSpec::default();
        run_streams(connector, &[stream], &spec, &stop, &mut failed)?;
        match failed.0 {
            None => self.write(connector, 0),
            Some(error) => Err(Failure::new(
                ExitCode::Failed,
                format!("the tables could not be put back as they were loaded: {error}"),
            )),
        }
    }
}

fn system(error: std::io::Error) -> Failure {
    Failure::new(ExitCode::Failed, error.to_string())
}

#[derive(Default)]
struct FirstFailure(Option<DbError>);

impl StreamsObserver for FirstFailure {
    fn started(&mut self) {}
    fn ended(&mut self, result: StepResult) {
        if let StepOutcome::Failed(error) = result.outcome {
            self.0.get_or_insert(error);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_tell_what_may_be_in_the_tables() {
        let marks = |a: &str, b: &str| Marks::of(vec![Some(a.into()), Some(b.into())]);
        assert_eq!(marks("tidemark:loaded rows=1", "x").sets, 0);
        let refreshed = marks(
            "tidemark:loaded rows=1 refreshed=3",
            "tidemark:loaded rows=2",
        );
        assert_eq!(refreshed.sets, 3);
        assert_eq!(
            refreshed.loaded[0].as_deref(),
            Some("tidemark:loaded rows=1")
        );
        assert!(refreshed.must_be_ours().is_ok());
        let others = Marks::of(vec![Some("tidemark:loaded rows=1".into()), None]);
        assert_eq!(others.must_be_ours().unwrap_err().code, ExitCode::Refused);
    }
}
