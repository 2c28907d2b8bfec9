//! What a transaction cost, and what was not observed.

use crate::document::{Block, DocumentPart};
use crate::load_words::Table;
use crate::number::{bytes, three};
use crate::texts::{Lang, fill, observed};
use serde::Serialize;
use tidemark_analysis::observed::{Cost, CostKind, costs};
use tidemark_core::record::{Gap, GapKind, RunRecord};
use tidemark_diagnosis::{Diagnosis, can_diagnose, diagnose};

/// A record with what its series come to.
#[derive(Serialize)]
struct Whole<'r> {
    #[serde(flatten)]
    record: &'r RunRecord,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    costs: Vec<Cost>,
    #[serde(skip_serializing_if = "Option::is_none")]
    diagnosis: Option<Diagnosis>,
}

/// The record as JSON that [`tidemark_core`] reads again, with the cost of its transactions and what limits
/// them.
///
/// # Errors
/// Those of a record that can't be written as JSON.
pub fn json(record: &RunRecord) -> Result<String, serde_json::Error> {
    let costs = costs(record);
    let diagnosis = can_diagnose(record).then(|| diagnose(record));
    let whole = Whole {
        record,
        costs,
        diagnosis,
    };
    let mut text = serde_json::to_string_pretty(&whole)?;
    text.push('\n');
    Ok(text)
}

/// A row for each kind of cost that is known.
pub(crate) fn costs_part(record: &RunRecord, lang: Lang) -> Option<DocumentPart> {
    let t = observed::of(lang);
    let rows: Vec<Vec<String>> = costs(record).iter().map(|c| row(c, t)).collect();
    (!rows.is_empty()).then(|| {
        DocumentPart::from(Table {
            title: t.costs,
            says: t.costs_say.into(),
            head: vec![t.cost, t.each, t.told_by],
            rows,
            numbers: 1,
        })
    })
}

fn row(cost: &Cost, t: &observed::Texts) -> Vec<String> {
    let (called, said) = said_of(cost.kind, cost.per_transaction, t);
    vec![called.into(), said, cost.source.into()]
}

/// What a cost is called, and a value of it with its unit.
pub(crate) fn said_of(kind: CostKind, value: f64, t: &observed::Texts) -> (&'static str, String) {
    match kind {
        CostKind::ServerCpuUs => (t.server_cpu, format!("{} µs", three(value))),
        CostKind::ClientCpuUs => (t.client_cpu, format!("{} µs", three(value))),
        CostKind::RowsRead => (t.rows_read, three(value)),
        CostKind::PagesRequested => (t.pages_requested, three(value)),
        CostKind::PagesRead => (t.pages_read, three(value)),
        CostKind::BytesWritten => (t.bytes_written, bytes(value.round() as u64)),
        CostKind::LogBytes => (t.log_bytes, bytes(value.round() as u64)),
        CostKind::Syncs => (t.syncs, three(value)),
        CostKind::ContextSwitches => (t.context_switches, three(value)),
        CostKind::NetworkBytes => (t.network_bytes, bytes(value.round() as u64)),
    }
}

/// A sentence for everything that a source could not see: what is missing, and how to get it.
pub(crate) fn unseen_part(record: &RunRecord, lang: Lang) -> Option<DocumentPart> {
    let t = observed::of(lang);
    let all = record.observed.iter();
    let sentences = all.flat_map(|o| o.gaps.iter().map(|gap| sentence(&o.source, gap, t)));
    let sentences: Vec<String> = sentences.collect();
    (!sentences.is_empty()).then(|| DocumentPart::new(t.unseen, vec![Block::List(sentences)]))
}

/// Notes but those of sources that failed, which stand among what was not observed.
pub(crate) fn other_notes(record: &RunRecord) -> Vec<String> {
    let is_told = |note: &str| {
        let mut all = record.observed.iter();
        all.any(|o| note.starts_with(&format!("source {}: ", o.source)))
    };
    let notes = record.notes.iter().filter(|note| !is_told(note));
    notes.cloned().collect()
}

fn sentence(source: &str, gap: &Gap, t: &observed::Texts) -> String {
    let template = match gap.kind {
        GapKind::RemoteHost => t.remote_host,
        GapKind::NoProcess => t.no_process,
        GapKind::ProcessIo => t.process_io,
        GapKind::Engine => t.engine,
        GapKind::Pooler => t.pooler,
        GapKind::NoConnections => t.no_connections,
        GapKind::OtherSessions => t.other_sessions,
        GapKind::SettingOff => t.setting_off,
        GapKind::OldVersion => t.old_version,
        GapKind::NodesRefused => t.nodes_refused,
        GapKind::NodesTooMany => t.nodes_too_many,
        GapKind::NodeSilent => t.node_silent,
        GapKind::NodeTls => t.node_tls,
        GapKind::Failed => t.failed,
        GapKind::Stalled => t.stalled,
        GapKind::Other => t.other,
    };
    fill(template, &[("source", source), ("detail", &gap.detail)])
}
