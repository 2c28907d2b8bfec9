//! One table's share of a load: its parts, and how far each is.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;
use tidemark_drivers::journal::{JournalLine, LoadPart, PartState};
use tidemark_workloads::{TablePlan, Workload};

/// How far a part is, to this client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Nobody is at it, as far as it is known; a client that ended may have begun it.
    Open { begun: bool },
    /// A worker of this client is at it.
    Mine,
    /// Another client is at it.
    Others,
    /// It is committed.
    Done,
}

impl Stage {
    fn of(line: &JournalLine) -> Self {
        match line.state {
            PartState::Open => Stage::Open {
                begun: !line.owner.is_empty(),
            },
            PartState::Claimed => Stage::Others,
            PartState::Done => Stage::Done,
        }
    }

    /// To the client of that number no worker of which is at the part: its own claim is nobody
    /// else's to do.
    pub fn to(line: &JournalLine, me: u64) -> Self {
        match line.state {
            PartState::Claimed if line.owner.parse() == Ok(me) => Stage::Open { begun: true },
            _ => Stage::of(line),
        }
    }

    fn is_open(self) -> bool {
        matches!(self, Stage::Open { .. })
    }
}

/// One table's share of a load.
#[derive(Debug)]
pub(super) struct TableWork {
    /// The plan's number in the workload.
    pub index: usize,
    pub plan: Arc<TablePlan>,
    /// Whether a chunk that fails is taken back.
    pub transactional: bool,
    pub parts: BTreeMap<LoadPart, Piece>,
}

#[derive(Debug)]
pub(super) struct Piece {
    pub stage: Stage,
    /// Rows of a chunk.
    pub rows: u64,
    /// When this client had committed it.
    pub mine_since: Option<Instant>,
    /// Whether this client counted a chunk's rows in the target before it committed them.
    pub counted: bool,
}

impl TableWork {
    /// A table with its lines of the journal.
    pub fn new<'a>(
        index: usize,
        plan: TablePlan,
        transactional: bool,
        lines: impl Iterator<Item = &'a JournalLine>,
        workload: &dyn Workload,
        seed: u64,
    ) -> Self {
        let piece = |line: &JournalLine| Piece {
            stage: Stage::of(line),
            rows: match line.part {
                LoadPart::Chunk { first, units } => workload.row_count(index, first, units, seed),
                _ => 0,
            },
            mine_since: None,
            counted: false,
        };
        Self {
            index,
            plan: Arc::new(plan),
            transactional,
            parts: lines.map(|line| (line.part, piece(line))).collect(),
        }
    }

    /// Whether the journal tells of the table. Without its lines nothing of it is to do.
    pub fn is_in_journal(&self) -> bool {
        let known = |part| self.parts.contains_key(&part);
        known(LoadPart::Indexes) && known(LoadPart::Verify)
    }

    /// Rows of committed chunks.
    pub fn rows_there(&self) -> u64 {
        let done = self.parts.values().filter(|p| p.stage == Stage::Done);
        done.map(|p| p.rows).sum()
    }

    pub fn chunks(&self) -> impl Iterator<Item = (u64, &Piece)> {
        self.parts.iter().filter_map(|(part, piece)| match part {
            LoadPart::Chunk { units, .. } => Some((*units, piece)),
            _ => None,
        })
    }

    pub fn rows_are_there(&self) -> bool {
        self.chunks().all(|(_, piece)| piece.stage == Stage::Done)
    }

    pub fn is(&self, part: LoadPart, wanted: impl Fn(Stage) -> bool) -> bool {
        self.parts.get(&part).is_none_or(|p| wanted(p.stage))
    }

    pub fn is_done(&self, part: LoadPart) -> bool {
        self.is(part, |stage| stage == Stage::Done)
    }

    pub fn has_open(&self, part: LoadPart) -> bool {
        self.parts.contains_key(&part) && self.is(part, Stage::is_open)
    }

    /// What is left to load, for each worker if one more came.
    pub fn bytes_a_worker(&self) -> u64 {
        let of = |wanted: fn(Stage) -> bool| {
            self.chunks()
                .filter(move |(_, piece)| wanted(piece.stage))
                .map(|(units, _)| units)
        };
        let left: u64 = of(Stage::is_open).sum();
        let workers = of(|stage| matches!(stage, Stage::Mine | Stage::Others)).count();
        left.saturating_mul(super::grid::unit_bytes(&self.plan)) / (workers as u64 + 1)
    }

    pub fn first_open_chunk(&self) -> Option<LoadPart> {
        let mut chunks = self.parts.iter();
        chunks
            .find(|(part, piece)| matches!(part, LoadPart::Chunk { .. }) && piece.stage.is_open())
            .map(|(part, _)| *part)
    }
}
