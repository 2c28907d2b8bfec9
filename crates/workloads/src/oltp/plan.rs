//! What one transaction of a workload does, worked out once for all terminals.

use super::settings::Settings;
use super::sql::{OltpStatement, TransactionEnd};
use crate::random::Distribution;

/// One group of statements within a transaction. A group draws its table once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StatementGroup {
    /// Point SELECTs.
    Points(u32),
    /// Range SELECTs of one kind.
    Ranges(OltpStatement, u32),
    /// UPDATEs of k.
    UpdateIndex(u32),
    /// UPDATEs of c.
    UpdateNonIndex(u32),
    /// DELETEs alone.
    Delete(u32),
    /// A DELETE and an INSERT of the same key.
    DeleteInsert(u32),
    /// One INSERT of one row, sent as text.
    InsertText,
    /// One INSERT of many rows.
    InsertBatch,
    /// One INSERT of many rows that updates those that exist.
    UpsertBatch,
    /// One SELECT of the rows of many k.
    RandomPoints,
    /// One SELECT that counts the rows of many ranges of k.
    RandomRanges,
}

/// Common to all terminals of a run.
#[derive(Debug)]
pub(super) struct Plan {
    /// Tables that statements are of, from the first on.
    pub tables: u32,
    pub settings: Settings,
    /// Keys of existing rows.
    pub keys: Distribution,
    /// Each step with the slot of its first table's statement in the session's list.
    pub steps: Vec<(StatementGroup, usize)>,
    /// Slots of BEGIN and of what ends it, if the steps stand between them.
    pub transaction: Option<(usize, usize)>,
    /// Statements in the order that sysbench prepares them.
    queries: Vec<OltpStatement>,
}

impl Plan {
    /// A plan of steps, in a transaction unless `--skip-trx` is set or it is one statement; with
    /// `--end-with` always.
    pub fn new(settings: Settings, steps: Vec<StatementGroup>, transactional: bool) -> Self {
        let read_only = steps.iter().all(StatementGroup::reads);
        let mut queries: Vec<OltpStatement> =
            steps.iter().flat_map(|s| s.queries(&settings)).collect();
        let by_default = (transactional && !settings.skip_trx).then_some(TransactionEnd::Commit);
        let end = settings.end.or(by_default);
        if let Some(end) = end {
            // oltp_read_only prepares its point SELECTs before BEGIN, all others after it.
            let at = usize::from(read_only && queries.first() == Some(&OltpStatement::Point));
            queries.splice(
                at..at,
                [OltpStatement::Begin { read_only }, OltpStatement::End(end)],
            );
        }
        // sysbench's scripts of random points and ranges read the first table, however many there are.
        let one = |step: &StatementGroup| {
            matches!(
                step,
                StatementGroup::RandomPoints | StatementGroup::RandomRanges
            )
        };
        let tables = if steps.iter().any(one) {
            1
        } else {
            settings.tables
        };
        let slot = |query: OltpStatement| {
            let before = queries.iter().take_while(|q| **q != query);
            before.map(|q| tables_of(*q, tables) as usize).sum()
        };
        Self {
            keys: settings.keys(),
            transaction: end.map(|end| {
                (
                    slot(OltpStatement::Begin { read_only }),
                    slot(OltpStatement::End(end)),
                )
            }),
            steps: steps
                .iter()
                .map(|s| (*s, s.queries(&settings).first().map_or(0, |q| slot(*q))))
                .collect(),
            queries,
            tables,
            settings,
        }
    }

    /// Whether no statement changes anything.
    pub fn only_reads(&self) -> bool {
        self.steps.iter().all(|(step, _)| step.reads())
    }

    /// How many statements a transaction sends, each after the reply to the one before.
    pub fn statements_sent(&self) -> u32 {
        let steps = self.steps.iter().map(|(step, _)| step.statements_sent());
        let around = if self.transaction.is_some() { 2 } else { 0 };
        steps.fold(around, u32::saturating_add).max(1)
    }

    /// The statements that a session prepares, each with its table, in order.
    pub fn statements(&self) -> impl Iterator<Item = (OltpStatement, u32)> {
        let tables = |q: OltpStatement| 1..=tables_of(q, self.tables);
        self.queries
            .iter()
            .flat_map(move |q| tables(*q).map(|table| (*q, table)))
    }
}

fn tables_of(query: OltpStatement, tables: u32) -> u32 {
    if query.names_table() { tables } else { 1 }
}

impl StatementGroup {
    fn reads(&self) -> bool {
        use StatementGroup::{Points, RandomPoints, RandomRanges, Ranges};
        matches!(self, Points(_) | Ranges(..) | RandomPoints | RandomRanges)
    }

    fn statements_sent(&self) -> u32 {
        match *self {
            StatementGroup::Points(times)
            | StatementGroup::Ranges(_, times)
            | StatementGroup::UpdateIndex(times)
            | StatementGroup::UpdateNonIndex(times)
            | StatementGroup::Delete(times) => times,
            StatementGroup::DeleteInsert(times) => times.saturating_mul(2),
            StatementGroup::InsertText
            | StatementGroup::InsertBatch
            | StatementGroup::UpsertBatch
            | StatementGroup::RandomPoints
            | StatementGroup::RandomRanges => 1,
        }
    }

    /// The kinds of statement that the step executes.
    fn queries(&self, settings: &Settings) -> Vec<OltpStatement> {
        match *self {
            StatementGroup::Points(_) => vec![OltpStatement::Point],
            StatementGroup::Ranges(query, _) => vec![query],
            StatementGroup::UpdateIndex(_) => vec![OltpStatement::UpdateIndex],
            StatementGroup::UpdateNonIndex(_) => vec![OltpStatement::UpdateNonIndex],
            StatementGroup::Delete(_) => vec![OltpStatement::Delete],
            StatementGroup::DeleteInsert(_) => vec![OltpStatement::Delete, OltpStatement::Insert],
            StatementGroup::InsertText => vec![],
            StatementGroup::InsertBatch => vec![OltpStatement::InsertBatch {
                rows: settings.batch_size,
                keyed: settings.client_keys(),
            }],
            StatementGroup::UpsertBatch => vec![OltpStatement::UpsertBatch {
                rows: settings.batch_size,
            }],
            StatementGroup::RandomPoints => {
                vec![OltpStatement::RandomPoints(settings.random_points)]
            }
            StatementGroup::RandomRanges => {
                vec![OltpStatement::RandomRanges(settings.number_of_ranges)]
            }
        }
    }
}
