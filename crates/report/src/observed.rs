//! What a transaction cost, and what was not observed.

use crate::document::{Block, DocumentPart};
use crate::merge::per_second;
use crate::number::{bytes, percent, three, whole};
use crate::report_table::ReportTable;
use crate::texts::{Lang, fill, observed};
use serde::Serialize;
use tidemark_analysis::costs::{Cost, CostKind, SESSIONS, costs, lag_too_much, statements_each};
use tidemark_analysis::observed::{others_sessions, sessions};
use tidemark_core::observe::SERVER_NODES;
use tidemark_core::record::{Disk, Gap, GapKind, RunRecord, ServerStatement};
use tidemark_diagnosis::{Diagnosis, can_diagnose, diagnose};

/// A transaction of so little more or less than one statement is one.
const ONE_STATEMENT: f64 = 0.005;
/// So many transactions, or a tenth of them a second, are few for a server that also works by itself.
const FEW: u64 = 1000;
/// Others' part of the sessions at work that is told.
const OTHERS: f64 = 0.05;
/// Statements of a brief report.
const MOST_BRIEF: usize = 5;
/// Characters of a statement that a table shows; the record has more.
const MOST_OF_A_STATEMENT: usize = 160;

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
    tidemark_core::record::to_text(&whole)
}

/// How many of the sessions at work in the server were others', 0 to 1.
fn share_of_others(record: &RunRecord) -> Option<f64> {
    let own = sessions(record, "active", None)?;
    let others = others_sessions(record, "active").filter(|others| *others > 0.0)?;
    Some(others / (own + others))
}

/// A row for each kind of cost that is known.
pub(crate) fn costs_part(record: &RunRecord, lang: Lang) -> Option<DocumentPart> {
    let t = observed::of(lang);
    // Where a transaction is one statement, both cost the same.
    let statements = statements_each(record).filter(|each| (each - 1.0).abs() >= ONE_STATEMENT);
    let by_statement = statements.is_some();
    let costs = costs(record);
    let rows: Vec<Vec<String>> = costs.iter().map(|c| row(c, by_statement, t)).collect();
    let mut says = vec![t.costs_say.to_string()];
    // What the run's sessions count themselves has nothing of observing.
    let is_observed = costs.iter().any(|cost| cost.source != SESSIONS);
    says.extend(is_observed.then(|| t.costs_own.to_string()));
    let (count, elapsed_s) = (record.totals.all.count, record.totals.elapsed_s);
    let is_of_few = count < FEW || per_second(count, elapsed_s) < FEW as f64 / 10.0;
    says.extend((is_observed && is_of_few).then(|| t.costs_few.to_string()));
    let share = share_of_others(record).filter(|share| is_observed && *share >= OTHERS);
    says.extend(share.map(|share| fill(t.costs_others, &[("share", &percent(share, 1.0))])));
    says.extend(lag_too_much(record, &costs).then(|| t.costs_late.to_string()));
    says.extend(statements.map(|each| fill(t.costs_statements, &[("count", &three(each))])));
    let mut head = vec![t.cost, t.each];
    head.extend(by_statement.then_some(t.each_statement));
    head.push(t.told_by);
    (!rows.is_empty()).then(|| {
        DocumentPart::from(ReportTable {
            title: t.costs,
            says: says.join(lang.texts().gap),
            numbers: head.len() - 2,
            head,
            rows,
        })
    })
}

fn row(cost: &Cost, by_statement: bool, t: &observed::Texts) -> Vec<String> {
    let (called, said) = said_of(cost.kind, cost.per_transaction, t);
    let mut row = vec![called.into(), said];
    if by_statement {
        let each = cost.per_statement;
        row.push(each.map_or("–".into(), |each| said_of(cost.kind, each, t).1));
    }
    row.push(cost.source.into());
    row
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
        CostKind::RoundTrips => (t.round_trips, three(value)),
    }
}

/// The statements that took most of the server's time, by its own account.
pub(crate) fn statements_part(record: &RunRecord, lang: Lang, brief: bool) -> Option<DocumentPart> {
    let t = observed::of(lang);
    let all = &record.server_statements;
    let total: f64 = all.iter().map(|of| of.time_ms).sum();
    let has = |told: fn(&ServerStatement) -> bool| all.iter().any(told);
    let (examined, locks) = (
        has(|s| s.rows_examined.is_some()),
        has(|s| s.lock_ms.is_some()),
    );
    let (pages, misses) = (
        has(|s| s.pages_requested.is_some()),
        has(|s| s.pages_read.is_some()),
    );
    let log = has(|s| s.log_bytes.is_some());
    let mut head = vec![
        t.statement,
        t.executed,
        t.time,
        t.time_share,
        t.mean,
        t.rows,
    ];
    let also = [
        (examined, t.examined),
        (locks, t.locked),
        (pages, t.pages_each),
        (misses, t.misses_each),
        (log, t.log_each),
    ];
    head.extend(also.iter().filter(|(has, _)| *has).map(|(_, name)| *name));
    let row = |of: &ServerStatement| {
        let count = of.count.max(1) as f64;
        let each = |n: Option<u64>| n.map_or_else(|| "–".into(), |n| three(n as f64 / count));
        let mut row = vec![
            shortened(&of.text),
            whole(of.count),
            format!("{} s", three(of.time_ms / 1000.0)),
            percent(of.time_ms, total),
            format!("{} ms", three(of.time_ms / count)),
            three(of.rows as f64 / count),
        ];
        let lock = of.lock_ms.map(|ms| format!("{} s", three(ms / 1000.0)));
        let log_each = of
            .log_bytes
            .map(|n| bytes((n as f64 / count).round() as u64));
        let also_told = [
            (examined, each(of.rows_examined)),
            (locks, lock.unwrap_or_else(|| "–".into())),
            (pages, each(of.pages_requested)),
            (misses, each(of.pages_read)),
            (log, log_each.unwrap_or_else(|| "–".into())),
        ];
        row.extend(
            also_told
                .into_iter()
                .filter(|(has, _)| *has)
                .map(|(_, said)| said),
        );
        row
    };
    let most = if brief { MOST_BRIEF } else { all.len() };
    let rows: Vec<Vec<String>> = all.iter().take(most).map(row).collect();
    (!rows.is_empty()).then(|| {
        DocumentPart::from(ReportTable {
            title: t.statements,
            says: t.statements_say.into(),
            numbers: head.len() - 1,
            head,
            rows,
        })
    })
}

/// A text that leaves room for figures beside it.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(MOST_OF_A_STATEMENT) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or(text)),
        None => text.into(),
    }
}

/// The way to the server before the load, and the disks under a local one.
pub(crate) fn target_facts(record: &RunRecord, lang: Lang) -> Vec<(&'static str, String)> {
    let t = observed::of(lang);
    let mut facts = Vec::new();
    if let Some(ping) = &record.ping_before {
        let values = [
            ("min", three(ping.min_ms)),
            ("mean", three(ping.mean_ms)),
            ("max", three(ping.max_ms)),
        ];
        let values = values
            .each_ref()
            .map(|(name, value)| (*name, value.as_str()));
        facts.push((t.ping, fill(t.ping_says, &values)));
    }
    let disks: Vec<String> = record.server_disks.iter().map(|d| disk(d, t)).collect();
    if !disks.is_empty() {
        facts.push((t.disks, disks.join("; ")));
    }
    facts
}

/// What models of disks have in them that a hypervisor or a cloud provides.
const VIRTUAL_MODELS: &[&str] = &[
    "virtual",
    "virtio",
    "qemu",
    "vbox",
    "vmware",
    "xen",
    "elastic block",
    "persistentdisk",
    "nvme_card",
    "blockvolume",
    "cloud",
];

/// Whether a hypervisor provides the disk, by the name that its driver gave it (`vda`: virtio-blk, `xvda`:
/// Xen) or its model: what the kernel then says of its rotation is a default.
fn is_virtual(disk: &Disk) -> bool {
    let model = disk.model.to_ascii_lowercase();
    let by_driver = ["vd", "xvd"].iter().any(|driver| {
        let rest = disk.device.strip_prefix(driver);
        rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase()))
    });
    by_driver || VIRTUAL_MODELS.iter().any(|part| model.contains(part))
}

fn disk(disk: &Disk, t: &observed::Texts) -> String {
    let kind = match disk.rotational {
        _ if is_virtual(disk) => t.virtual_disk,
        Some(true) => t.rotational,
        Some(false) => t.not_rotational,
        None => "",
    };
    let scheduler = match disk.scheduler.as_str() {
        "" => String::new(),
        name => fill(t.scheduler, &[("name", name)]),
    };
    let size = disk.size_bytes.map(bytes).unwrap_or_default();
    let (device, model) = (disk.device.clone(), disk.model.clone());
    let all = [
        device,
        model,
        size,
        kind.into(),
        scheduler,
        disk.file_system.clone(),
    ];
    let all = all.into_iter().filter(|said| !said.is_empty());
    all.collect::<Vec<_>>().join(t.between)
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

/// A sentence for something that a source can't see: what is missing, and how to get it.
pub fn unseen(source: &str, gap: &Gap, lang: Lang) -> String {
    sentence(source, gap, observed::of(lang))
}

fn sentence(source: &str, gap: &Gap, t: &observed::Texts) -> String {
    let template = match gap.kind {
        GapKind::LocalHost => t.local_host,
        GapKind::RemoteHost => t.remote_host,
        GapKind::NoProcess => t.no_process,
        GapKind::ProcessIo => t.process_io,
        GapKind::Engine if source == SERVER_NODES => t.engine_nodes,
        GapKind::Engine => t.engine,
        GapKind::Pooler => t.pooler,
        GapKind::NoConnections => t.no_connections,
        GapKind::OtherSessions => t.other_sessions,
        GapKind::SettingOff => t.setting_off,
        GapKind::NoStatements => t.no_statements,
        GapKind::Prepared => t.prepared,
        GapKind::StatementsTogether => t.statements_together,
        GapKind::NoTcp => t.no_tcp,
        GapKind::Refused => t.refused,
        GapKind::OldVersion => t.old_version,
        GapKind::NodesRefused => t.nodes_refused,
        GapKind::NodesTooMany => t.nodes_too_many,
        GapKind::NodeSilent => t.node_silent,
        GapKind::NodeTls => t.node_tls,
        GapKind::Failed => t.failed,
        GapKind::Stalled => t.stalled,
        GapKind::Other => t.other,
    };
    let at = gap.second.map(|second| {
        let second = second.to_string();
        fill(t.at_second, &[("source", source), ("second", &second)])
    });
    let source = at.as_deref().unwrap_or(source);
    // The record has it in English.
    let en = observed::of(Lang::En);
    let detail = gap.detail.replace(en.restart_then, t.restart_then);
    let detail = detail.replace(en.restart, t.restart);
    fill(template, &[("source", source), ("detail", &detail)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_virtual_disk_is_no_hard_disk() {
        let of = |device: &str, model: &str| Disk {
            device: device.into(),
            model: model.into(),
            rotational: Some(true),
            ..Disk::default()
        };
        let zh = observed::of(Lang::Zh);
        for (device, model) in [
            ("vda", ""),
            ("xvdf", ""),
            ("sda", "QEMU HARDDISK"),
            ("sda", "Virtual Disk"),
            ("nvme1n1", "Amazon Elastic Block Store"),
        ] {
            let said = disk(&of(device, model), zh);
            assert!(said.contains("虚拟磁盘"), "{said}");
            assert!(!said.contains("机械硬盘"), "{said}");
        }
        let said = disk(&of("sda", "ST4000NM0035"), zh);
        assert!(said.contains("机械硬盘"), "{said}");
    }

    #[test]
    fn what_needs_a_restart_is_said_in_the_language() {
        let install = "shared_preload_libraries = 'pg_stat_statements' (restart), then CREATE \
                       EXTENSION pg_stat_statements";
        for detail in [install, "performance_schema = ON (restart)"] {
            let gap = Gap::new(GapKind::NoStatements, detail);
            let said = unseen("server-statements", &gap, Lang::Zh);
            assert!(
                said.contains("需重启") && !said.contains("restart"),
                "{said}"
            );
            let english = unseen("server-statements", &gap, Lang::En);
            assert!(english.contains(detail), "{english}");
        }
    }
}
