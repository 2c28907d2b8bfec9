//! Filling in a run record around what the engine measures.

use crate::secrets::{redact, redact_url};
use tidemark_core::record::{
    ClientUsage, EffectiveOption, RunRecord, RunState, SCHEMA_VERSION, Setting, TableState, Totals,
};
use tidemark_core::{OptionValues, RunSpec, ServerInfo, Target};
use tidemark_drivers::{Connector, Session, catalog, settings};
use tidemark_engine::{EngineError, RunResult};
use tidemark_observe::{Usage, client_host, usage};
use tidemark_runtime::block_on;
use uuid::Uuid;

/// What the target said of itself before the run.
#[derive(Debug, Clone)]
pub struct Described {
    /// Engine and version.
    pub server: ServerInfo,
    /// Settings that matter.
    pub settings: Vec<Setting>,
    /// Tables the run needs, as they are.
    pub tables: Vec<TableState>,
    /// What could not be read.
    pub notes: Vec<String>,
}

/// Asks the target for its version, settings and the named tables.
///
/// # Errors
/// [`EngineError::Connect`] when no session can be opened. What a session then can't read becomes
/// a note: a collector that fails never fails a run.
pub fn describe(connector: &Connector, tables: Vec<String>) -> Result<Described, EngineError> {
    let connector = connector.clone();
    block_on(async move {
        let opened = connector.connect(0).await;
        let mut session = opened.map_err(|error| EngineError::Connect { session: 0, error })?;
        let mut notes = Vec::new();
        let settings = settings::settings_that_matter(&mut session)
            .await
            .unwrap_or_else(|e| {
                notes.push(format!("the target's settings could not be read: {e}"));
                Vec::new()
            });
        let tables = table_states(&mut session, &tables, &mut notes).await;
        let server = session.server().clone();
        session.close().await;
        Ok(Described {
            server,
            settings,
            tables,
            notes,
        })
    })?
}

/// Rows and key range of each table.
async fn table_states(
    session: &mut Session,
    tables: &[String],
    notes: &mut Vec<String>,
) -> Vec<TableState> {
    let mut states = Vec::with_capacity(tables.len());
    for table in tables {
        match table_state(session, table).await {
            Ok(Some(state)) => states.push(state),
            Ok(None) => {}
            Err(e) => notes.push(format!("table {table} could not be looked at: {e}")),
        }
    }
    states
}

async fn table_state(
    session: &mut Session,
    table: &str,
) -> Result<Option<TableState>, tidemark_core::DbError> {
    let Some(found) = catalog::describe_table(session, table).await? else {
        return Ok(None);
    };
    let rows = catalog::row_count(session, table).await?;
    let keys = match found.primary_key.first() {
        Some(key) if found.primary_key.len() == 1 => {
            catalog::key_range(session, table, key).await?
        }
        _ => None,
    };
    Ok(Some(TableState {
        table: table.into(),
        rows,
        expected_rows: None,
        min_key: keys.map(|k| k.0),
        max_key: keys.map(|k| k.1),
    }))
}

/// A record in the making.
pub struct Recording {
    /// The record so far.
    pub record: RunRecord,
    usage_before: Usage,
}

impl Recording {
    /// A record of a run that is about to begin.
    pub fn new(
        args: &[String],
        workload: &str,
        target: &Target,
        options: &OptionValues,
        spec: &RunSpec,
        described: Described,
    ) -> Self {
        let options = options
            .shown()
            .map(|(name, value, source)| {
                (
                    name.to_string(),
                    EffectiveOption {
                        value: redact_url(value),
                        source,
                    },
                )
            })
            .collect();
        let record = RunRecord {
            schema_version: SCHEMA_VERSION,
            id: Uuid::now_v7().to_string(),
            tidemark_version: env!("CARGO_PKG_VERSION").into(),
            started_at: jiff::Timestamp::now().to_string(),
            state: RunState::Running,
            command: redact(args),
            workload: workload.into(),
            target: target.to_string(),
            server: Some(described.server),
            settings: described.settings,
            notes: described.notes,
            options,
            sessions: spec.sessions,
            executors: 0,
            rate: spec.rate,
            seed: spec.seed,
            client: client_host(),
            usage: ClientUsage::default(),
            tables_before: described.tables,
            tables_after: Vec::new(),
            intervals: Vec::new(),
            totals: Totals::default(),
            errors: Vec::new(),
        };
        Self {
            record,
            usage_before: usage(),
        }
    }

    /// The load begins: what the client uses counts from here.
    pub fn started(&mut self) {
        self.usage_before = usage();
    }

    /// Takes over what was measured and looks at the tables again.
    pub fn finish(&mut self, result: &RunResult, connector: &Connector) {
        self.record.usage = usage().since(&self.usage_before);
        self.record.state = result.state.clone();
        self.record.executors = result.executors;
        self.record.totals = result.totals.clone();
        self.record.errors = result.errors.counts().to_vec();
        let tables = self
            .record
            .tables_before
            .iter()
            .map(|t| t.table.clone())
            .collect();
        let connector = connector.clone();
        let looked = block_on(async move {
            let mut session = connector.connect(0).await?;
            let mut notes = Vec::new();
            let tables: Vec<String> = tables;
            let states = table_states(&mut session, &tables, &mut notes).await;
            session.close().await;
            Ok::<_, tidemark_core::DbError>((states, notes))
        });
        match looked {
            Ok(Ok((states, notes))) => {
                self.record.tables_after = states;
                self.record.notes.extend(notes);
            }
            Ok(Err(e)) => self
                .record
                .notes
                .push(format!("tables could not be looked at: {e}")),
            Err(e) => self
                .record
                .notes
                .push(format!("tables could not be looked at: {e}")),
        }
    }

    /// The run failed before any load was made.
    pub fn failed(&mut self, error: &EngineError) {
        self.record.usage = usage().since(&self.usage_before);
        self.record.state = match error {
            EngineError::Interrupted => RunState::Interrupted,
            other => RunState::Failed(other.to_string()),
        };
    }
}
