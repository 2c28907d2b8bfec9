//! The whole record.

use crate::overlaps::{dead_times, outage_ms, outages};
use crate::{
    ClientProgress, ClientTotals, Delivery, Live, MergeError, Merged, errors, interval, stats,
    step, totals,
};
use std::collections::BTreeSet;
use std::time::Duration;
use tidemark_core::record::{
    ClientHost, ClientPart, ClientState, ClientUsage, ErrorCount, Interval, Phase, RunRecord,
    RunState, Step, StepPurpose, Totals,
};
use tidemark_core::series::Series;
use tidemark_core::{Pacing, RunSpec, Shard};

/// A client's clock, and its start by it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ClientClock {
    /// How far it was ahead of the coordinator's, in milliseconds.
    pub offset_ms: f64,
    /// How far that may be from the truth, in milliseconds.
    pub error_ms: f64,
    /// How long after the common start its sessions were let go, in milliseconds.
    pub start_late_ms: f64,
}

/// What is known of one client at the end.
#[derive(Debug, Clone)]
pub struct ClientRun {
    /// What it is called by.
    pub name: String,
    /// Which one it is.
    pub shard: Shard,
    /// Its machine, where no record tells.
    pub host: ClientHost,
    /// Its record, if it came to that.
    pub record: Option<RunRecord>,
    /// How it ended.
    pub state: ClientState,
    /// Its clock; absent where nobody compared it.
    pub clock: Option<ClientClock>,
}

/// Times that a client told nothing of and that are no longer than this part of an interval are none.
const GAP: f64 = 0.5;
/// Whose series each client has of its own; the others observe what all share.
const OWN_SERIES: &str = "client-host";

/// One record of those of several clients. `head` has what they have in common: id, command, job,
/// options, target, server; and the rates that followed each other with what was decided of them, where a
/// coordinator did. Its figures are replaced, and its state where it says that the run goes on. `live`
/// has the intervals, if they were merged while the run went on; else they are taken from the records.
///
/// # Errors
/// [`MergeError::Twice`], [`MergeError::Nothing`] without any record or interval,
/// [`MergeError::Histogram`].
pub fn record(
    head: RunRecord,
    clients: &[ClientRun],
    live: Option<Merged>,
) -> Result<RunRecord, MergeError> {
    let mut clients: Vec<&ClientRun> = clients.iter().collect();
    clients.sort_by_key(|client| client.shard.index);
    if let Some(pair) = clients
        .windows(2)
        .find(|pair| pair[0].shard.index == pair[1].shard.index)
    {
        return Err(MergeError::Twice(pair[0].shard.index));
    }
    let spec = head
        .job
        .as_ref()
        .map(|job| job.load.clone())
        .unwrap_or_default();
    let mut merged = match live {
        Some(merged) => merged,
        None => of_records(&clients, spec.interval)?,
    };
    if clients.iter().all(|client| client.record.is_none()) && merged.intervals.is_empty() {
        return Err(MergeError::Nothing);
    }
    let records: Vec<&RunRecord> = clients.iter().filter_map(|c| c.record.as_ref()).collect();
    if records.iter().any(|record| !record.queries.is_empty()) {
        merged.intervals = chained(merged.intervals);
    }
    let parts = parts(&clients, &merged, &spec)?;
    let mut steps = match head.steps.is_empty() {
        true => steps(&clients)?,
        false => head.steps.clone(),
    };
    let outages = outages(records.iter().flat_map(|record| &record.outages));
    // Totals of clients tell how long hosts were out of reach, and only their records when. What a client
    // without a record told is in neither, so that the longest known time is the least.
    let union = |start_ms: i64, totals: &Totals| {
        let start_ms = start_ms as f64;
        let known = outage_ms(&outages, start_ms, start_ms + totals.elapsed_s * 1000.0);
        totals.outage_s.max(known / 1000.0)
    };
    for step in &mut steps {
        step.totals.outage_s = union(step.start_ms, &step.totals);
    }
    let mut all = all_totals(&clients, &merged, &parts, &steps, &spec)?;
    // Of a search the totals are those of a step.
    if !matches!(spec.pacing, Pacing::FindMax(_)) {
        all.outage_s = union(0, &all);
    }
    let (host, usage) = client(&parts);
    let sum = |of: fn(&ClientPart) -> usize| parts.iter().map(of).sum::<usize>();
    let opened = sum(|part| part.sessions_opened.unwrap_or(part.sessions));
    let rates = records.iter().filter_map(|record| record.rate);
    let dead: Option<Vec<_>> = records.iter().map(|r| r.dead_times.as_deref()).collect();
    Ok(RunRecord {
        state: match head.state {
            RunState::Running => state(&parts),
            ref decided => decided.clone(),
        },
        sessions: sum(|part| part.sessions),
        sessions_opened: Some(opened).filter(|opened| *opened < sum(|part| part.sessions)),
        fewer_sessions_because: (head.fewer_sessions_because.clone()).or_else(|| {
            records
                .iter()
                .find_map(|r| r.fewer_sessions_because.clone())
        }),
        terminals: match parts.iter().any(|part| part.terminals.is_some()) {
            true => Some(sum(|part| part.terminals.unwrap_or(part.sessions))),
            false => None,
        },
        executors: sum(|part| part.executors),
        rate: match spec.pacing {
            Pacing::Rate(rate) => Some(rate),
            _ => rates.reduce(|sum, rate| sum + rate),
        },
        client: host,
        usage,
        intervals: merged.intervals,
        outages,
        dead_times: dead.and_then(|dead| dead_times(&dead)),
        errors: all_errors(&clients, &merged.parts),
        totals: all,
        steps,
        series: series(&clients),
        queries: queries(&records),
        notes: notes(&head.notes, &clients),
        tables_after: tables(&head, &records),
        clients: parts,
        ..head
    })
}

/// The intervals of records, merged.
fn of_records(clients: &[&ClientRun], asked: Duration) -> Result<Merged, MergeError> {
    let most = clients.iter().map(|c| c.shard.index + 1).max().unwrap_or(0);
    let mut live = Live::new(most, asked);
    for client in clients {
        let intervals = client.record.iter().flat_map(|record| &record.intervals);
        for (number, interval) in (0..).zip(intervals) {
            live.take(Delivery {
                client: client.shard.index,
                epoch: 0,
                number,
                interval: interval.clone(),
                errors: Vec::new(),
            })?;
        }
    }
    live.finish()
}

/// Intervals that each end with a query follow each other: each begins where the one before it ended.
fn chained(mut intervals: Vec<Interval>) -> Vec<Interval> {
    let end = |i: &Interval| i.start_ms as f64 + i.length_ms;
    intervals.sort_by(|a, b| end(a).total_cmp(&end(b)));
    let mut at = intervals.iter().map(|i| i.start_ms).min().unwrap_or(0) as f64;
    for one in &mut intervals {
        let ends = end(one);
        one.start_ms = at as i64;
        one.length_ms = (ends - at).max(0.0);
        at = at.max(ends);
    }
    intervals
}

/// Each client's part, by number.
fn parts(
    clients: &[&ClientRun],
    merged: &Merged,
    spec: &RunSpec,
) -> Result<Vec<ClientPart>, MergeError> {
    let measured = || {
        merged
            .intervals
            .iter()
            .filter(|i| i.phase == Phase::Measure)
    };
    let ends = measured().map(|i| i.start_ms + i.length_ms as i64);
    let end_ms = ends.max().unwrap_or(0);
    let least_ms = (spec.interval.as_secs_f64() * 1000.0 * GAP) as i64;
    let nothing = ClientProgress::default();
    let each = clients.iter().map(|client| {
        let told = usize::try_from(client.shard.index).ok();
        let told = told.and_then(|at| merged.parts.get(at)).unwrap_or(&nothing);
        let own = RunSpec {
            shard: client.shard,
            ..spec.clone()
        }
        .own();
        let record = client.record.as_ref();
        let sessions = record.map_or(own.sessions, |r| r.sessions);
        let opened = record.and_then(|r| r.sessions_opened);
        // Streams of queries have no intervals of their own time.
        let has_intervals = record.is_none_or(|r| r.queries.is_empty());
        let had = opened.unwrap_or(sessions) as u64;
        ClientPart {
            name: client.name.clone(),
            index: client.shard.index,
            host: record.map_or_else(|| client.host.clone(), |r| r.client.clone()),
            sessions,
            sessions_opened: opened,
            terminals: match record {
                Some(record) => record.terminals,
                None => Some(own.terminals).filter(|n| *n != own.sessions),
            },
            executors: record.map_or(0, |r| r.executors),
            state: client.state.clone(),
            usage: record.map(|r| r.usage).unwrap_or_default(),
            elapsed_s: record.map_or(told.measured_s, |r| r.totals.elapsed_s),
            all: record.map_or_else(|| told.all.clone(), |r| r.totals.all.clone()),
            ignored_errors: record.map_or(told.ignored_errors, |r| r.totals.ignored_errors),
            reconnects: record.map_or(told.reconnects, |r| r.totals.reconnects),
            start_late_ms: client.clock.map(|clock| clock.start_late_ms),
            clock_offset_ms: client.clock.map(|clock| clock.offset_ms),
            clock_error_ms: client.clock.map(|clock| clock.error_ms),
            longest_lag_ms: match has_intervals {
                true => told.longest_lag_ms,
                false => 0.0,
            },
            missing: match has_intervals {
                true => told.missing(0, end_ms, least_ms, had),
                false => Vec::new(),
            },
        }
    });
    Ok(each.collect())
}

/// Totals of the measurement. Where a client left no record, they are of the intervals that all told.
fn all_totals(
    clients: &[&ClientRun],
    merged: &Merged,
    parts: &[ClientPart],
    steps: &[Step],
    spec: &RunSpec,
) -> Result<Totals, MergeError> {
    if matches!(spec.pacing, Pacing::FindMax(_)) {
        let confirmed = |step: &&Step| step.purpose == StepPurpose::Confirm;
        let found = steps.iter().rev().find(confirmed).or(steps.last());
        if let Some(found) = found {
            return Ok(found.totals.clone());
        }
    }
    let own: Vec<ClientTotals<'_>> = clients
        .iter()
        .zip(parts)
        .filter_map(|(client, part)| {
            Some(ClientTotals {
                totals: &client.record.as_ref()?.totals,
                sessions: part.sessions_opened.unwrap_or(part.sessions) as u64,
                // All count from the common start, also one that was late for it.
                late_s: 0.0,
            })
        })
        .collect();
    if own.len() == clients.len() {
        return totals(&own);
    }
    let told = of_intervals(&merged.intervals)?;
    // What intervals don't tell is of those that left a record.
    let known = match own.is_empty() {
        true => Totals::default(),
        false => totals(&own)?,
    };
    Ok(Totals {
        fairness: known.fairness,
        latency_parts: None,
        unserved_arrivals: known.unserved_arrivals,
        lateness: known.lateness,
        ..told
    })
}

/// The measured intervals as one.
fn of_intervals(intervals: &[Interval]) -> Result<Totals, MergeError> {
    let measured: Vec<&Interval> = intervals
        .iter()
        .filter(|i| i.phase == Phase::Measure)
        .collect();
    if measured.is_empty() {
        return Ok(Totals::default());
    }
    let sum = interval(&measured)?;
    let starts = measured.iter().map(|i| i.start_ms as f64);
    let ends = measured.iter().map(|i| i.start_ms as f64 + i.length_ms);
    let start = starts.fold(f64::INFINITY, f64::min);
    let end = ends.fold(f64::NEG_INFINITY, f64::max);
    let of_types: Vec<_> = sum.types.values().collect();
    // Sessions are those of a moment, and no sum over time.
    let last = measured.iter().max_by_key(|i| i.start_ms);
    let mut hosts = sum.hosts;
    for host in &mut hosts {
        let at_end = last
            .into_iter()
            .flat_map(|i| &i.hosts)
            .find(|h| h.host == host.host);
        host.sessions = at_end.map_or(0, |h| h.sessions);
    }
    Ok(Totals {
        elapsed_s: ((end - start) / 1000.0).max(0.0),
        statements: sum.statements,
        ignored_errors: sum.ignored_errors,
        reconnects: sum.reconnects,
        all: stats::type_stats(&of_types, "the intervals")?,
        types: sum.types,
        parts: sum.parts,
        notes: sum.notes,
        delayed_arrivals: sum.delayed_arrivals,
        dropped_arrivals: sum.dropped_arrivals,
        outage_s: measured.iter().map(|i| i.outage_ms / 1000.0).sum(),
        hosts,
        ..Totals::default()
    })
}

/// Rates that all clients held, in order; one that some did not come to is of the others.
fn steps(clients: &[&ClientRun]) -> Result<Vec<Step>, MergeError> {
    let records = || clients.iter().filter_map(|client| client.record.as_ref());
    let most = records()
        .map(|record| record.steps.len())
        .max()
        .unwrap_or(0);
    let merged = (0..most).map(|at| {
        let each: Vec<(&Step, u64)> = records()
            .filter_map(|record| {
                let sessions = record.sessions_opened.unwrap_or(record.sessions);
                Some((record.steps.get(at)?, sessions as u64))
            })
            .collect();
        step(&each)
    });
    merged.collect()
}

/// The clients' machines and what was used of them, as one. A machine with several clients is counted
/// once, and how busy it was is weighed by its processors.
fn client(parts: &[ClientPart]) -> (ClientHost, ClientUsage) {
    let mut seen = BTreeSet::new();
    let machines: Vec<&ClientPart> = parts
        .iter()
        .filter(|part| part.host.cores > 0 && seen.insert(part.host.hostname.clone()))
        .collect();
    let mut host = machines
        .first()
        .map(|part| part.host.clone())
        .unwrap_or_default();
    host.cores = machines.iter().map(|part| part.host.cores).sum();
    host.memory_bytes = machines.iter().map(|part| part.host.memory_bytes).sum();
    let sum = |of: fn(&ClientUsage) -> f64| parts.iter().map(|part| of(&part.usage)).sum::<f64>();
    let seconds = parts.iter().filter_map(|part| part.usage.seconds);
    let busy: Option<f64> = machines
        .iter()
        .map(|part| Some(part.usage.host_busy? * part.host.cores as f64))
        .sum();
    let waiting = parts.iter().filter_map(|part| part.usage.waiting_threads);
    let usage = ClientUsage {
        cpu_user_s: sum(|u| u.cpu_user_s),
        cpu_system_s: sum(|u| u.cpu_system_s),
        cpu_awake_s: sum(|u| u.cpu_awake_s),
        max_resident_bytes: parts.iter().map(|part| part.usage.max_resident_bytes).sum(),
        seconds: seconds.reduce(f64::max),
        host_busy: busy
            .filter(|_| host.cores > 0)
            .map(|busy| busy / host.cores as f64),
        waiting_threads: waiting.reduce(|sum, one| sum + one),
    };
    (host, usage)
}

/// How the run ended, where nobody decided that.
fn state(parts: &[ClientPart]) -> RunState {
    let reason = parts.iter().find_map(|part| match &part.state {
        ClientState::Failed(why) => Some(format!("client {}: {why}", part.name)),
        ClientState::Lost(why) => Some(format!("client {} was lost: {why}", part.name)),
        ClientState::Absent => Some(format!("client {} did not begin", part.name)),
        ClientState::Finished | ClientState::Interrupted => None,
    });
    let interrupted = || {
        parts
            .iter()
            .any(|part| part.state == ClientState::Interrupted)
    };
    match reason {
        Some(reason) => RunState::Failed(reason),
        None if interrupted() => RunState::Interrupted,
        None => RunState::Finished,
    }
}

/// Of a client that left no record, its intervals told them.
fn all_errors(clients: &[&ClientRun], told: &[ClientProgress]) -> Vec<ErrorCount> {
    let each = clients.iter().flat_map(|client| {
        let progress = usize::try_from(client.shard.index).ok();
        let progress = progress.and_then(|at| told.get(at));
        match (&client.record, progress) {
            (Some(record), _) => record.errors.as_slice(),
            (None, Some(progress)) => progress.errors.as_slice(),
            (None, None) => &[],
        }
    });
    errors(each)
}

/// Whether a series is of a program on the server's host that is a Tidemark, too.
fn is_client(series: &Series) -> bool {
    let program = series.key.labels.get("program");
    series.key.name == "programs.cpu" && program.is_some_and(|name| name == "tidemark")
}

/// Whether another client is on its host.
fn shares_host(client: &ClientRun, clients: &[&ClientRun]) -> bool {
    let host = |c: &ClientRun| {
        let seen = c.record.as_ref().map_or(&c.host, |r| &r.client);
        seen.hostname.clone()
    };
    let mut others = clients.iter().filter(|c| c.name != client.name);
    others.any(|other| host(other) == host(client))
}

/// Each client's own series with its name; of what all observe, those of the first.
fn series(clients: &[&ClientRun]) -> Vec<Series> {
    let mut all: Vec<Series> = Vec::new();
    let mut shared: BTreeSet<String> = BTreeSet::new();
    for client in clients {
        let of = client.record.iter().flat_map(|record| &record.series);
        let mut of_this = BTreeSet::new();
        for series in of {
            if series.key.source == OWN_SERIES {
                let mut series = series.clone();
                series.key = series.key.with("client", &client.name);
                all.push(series);
            } else if is_client(series) && shares_host(client, clients) {
                // Its siblings, and who coordinates them.
            } else if !shared.contains(&series.key.source) {
                of_this.insert(series.key.source.clone());
                all.push(series.clone());
            }
        }
        shared.append(&mut of_this);
    }
    all
}

fn queries(records: &[&RunRecord]) -> Vec<tidemark_core::record::QueryRun> {
    let all = records.iter().flat_map(|record| &record.queries);
    let mut all: Vec<_> = all.cloned().collect();
    all.sort_by(|a, b| (a.start_ms + a.took_ms).total_cmp(&(b.start_ms + b.took_ms)));
    all
}

/// Notes that all clients have once, others with the client's name.
fn notes(head: &[String], clients: &[&ClientRun]) -> Vec<String> {
    let mut all = head.to_vec();
    let records = || {
        clients
            .iter()
            .filter_map(|c| Some((&c.name, c.record.as_ref()?)))
    };
    for (name, record) in records() {
        for note in record.notes.iter().filter(|note| !head.contains(note)) {
            let of_all = records().all(|(_, other)| other.notes.contains(note));
            let told = match of_all {
                true => note.clone(),
                false => format!("client {name}: {note}"),
            };
            if !all.contains(&told) {
                all.push(told);
            }
        }
    }
    all
}

/// Who looked last saw what all left.
fn tables(head: &RunRecord, records: &[&RunRecord]) -> Vec<tidemark_core::record::TableState> {
    match head.tables_after.is_empty() {
        false => head.tables_after.clone(),
        true => {
            let looked = records
                .iter()
                .rev()
                .find(|record| !record.tables_after.is_empty());
            looked
                .map(|record| record.tables_after.clone())
                .unwrap_or_default()
        }
    }
}
