//! `watch`: what a database and its hosts do while others load it. The record is stored, shown and
//! exported as a run's is, and has no transactions.

use crate::exit::{ExitCode, Failure};
use crate::live_output::LiveOutput;
use crate::looking::{host_exporter, on_client, settings_of};
use crate::record_outputs::{RecordOutputs, complain, say};
use crate::recording::Recording;
use crate::render::{self, Format};
use crate::runner::{check_authorities, topology_of};
use crate::secrets::redact;
use crate::stdio::Stdout;
use crate::storing::Storing;
use crate::texts::watch as texts;
use crate::watching::{Watching, run_info};
use crate::{args, interrupt, progress, target};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tidemark_core::duration_text::written;
use tidemark_core::job::{OutputFiles, Watch};
use tidemark_core::observe::{CLIENT_HOST, SERVER_PROCESS, SERVER_STATUS};
use tidemark_core::record::{
    Disk, EffectiveOption, LatencyEnd, RunRecord, RunState, SCHEMA_VERSION, Setting, Topology,
    WATCH,
};
use tidemark_core::series::{Series, SeriesChunk};
use tidemark_core::{DbError, Observe, Protocol, RunSpec, ServerInfo, Source, Target, redact_url};
use tidemark_drivers::{ConnectOptions, Connector};
use tidemark_engine::EngineError;
use tidemark_observe::{
    EndpointAccess, HostExporter, Observing, SeriesSink, Sources, client_host, data_disks, sources,
    with_members,
};
use tidemark_report::{Lang, significant};
use tidemark_runtime::block_on;
use uuid::Uuid;

/// Sampling more often costs the server more than it tells.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(100);
/// Where there is no bar, a line is printed so often.
const LINE_EVERY: Duration = Duration::from_secs(10);
/// How often it is asked whether the end has come.
const LOOK: Duration = Duration::from_millis(50);
/// A number in words.
type Says = fn(Lang, &str) -> String;
/// What a line tells of the newest samples: source, series, and how it is said.
const TOLD: [(&str, &str, Says); 3] = [
    (SERVER_STATUS, "queries", |lang, n| {
        texts::statements(lang, n)
    }),
    (SERVER_STATUS, "commits", |lang, n| texts::commits(lang, n)),
    (CLIENT_HOST, "cpu.busy", |lang, n| texts::cpu(lang, n)),
];

/// Watches a target for a time.
///
/// # Errors
/// [`Failure`] of bad usage, when no session can be opened at the start, and when no source gave
/// anything. A server that is away later is a gap of the series.
pub fn watch(args: &[String], words: &args::Watch) -> Result<ExitCode, Failure> {
    let target = target::from_url(&words.target)?;
    check(words, &target)?;
    let files = OutputFiles {
        store: words.store.store.as_ref().map(|s| s.display().to_string()),
        record: words.out.clone(),
        reports: words.report.clone(),
        lang: words.lang.clone(),
        overwrite: words.overwrite,
        ..OutputFiles::default()
    };
    let lang = render::language(&words.lang);
    let outputs = RecordOutputs::new(&files)?;
    // Served from here on, so that a port that is taken is told before anything is begun.
    let mut watching = Watching::new(&Watch {
        metrics: words.metrics.clone(),
        ..Watch::default()
    })?;
    interrupt::listen_saying("ending the watch; press Ctrl-C again to quit");
    let options = ConnectOptions {
        connect_timeout: words.connect_timeout,
        ..ConnectOptions::default()
    };
    let connector = Connector::new(target.clone(), options)?.must_exist();
    check_authorities(words.observe_ca.as_deref())?;
    let file = topology_of(words.topology.as_deref())?;
    let exporter = host_exporter(words.observe_host.as_deref(), words.observe_ca.as_deref());
    let access = EndpointAccess::from_environment(words.observe_ca.as_deref());
    let server = describe(&connector, &words.observe, &access, exporter, file)?;
    let seen = sources(&Observing {
        observe: &words.observe,
        host: words.observe_host.as_deref(),
        nodes: words.observe_nodes.as_deref(),
        prometheus: words.observe_prometheus.as_deref(),
        access,
        connector: &connector,
        engine: Some(server.info.engine),
        on_client: server.on_client,
        pid: words.pid,
        makes_load: false,
        by_clients: false,
    });
    if seen.sources.is_empty() {
        return Err(Failure::usage(format!(
            "--observe={}: this target has none of these sources; use --observe=auto, or add \
             --observe-host=http://HOST:9100/metrics for another host",
            words.observe
        )));
    }
    let mut storing = Storing::open(files.store.as_deref())?;
    complain(&mut storing);
    let record = record(args, words, &target, server);
    let mut out = Stdout;
    let bar = progress::seconds(words.time.as_secs().max(1), lang);
    let mut live = LiveOutput::one(&mut out, bar);
    let (mut recording, length) =
        observe(words, record, seen, &mut storing, &mut watching, &mut live);
    watching.ended();
    let held = interrupt::hold();
    let state = match interrupt::handle().is_stopped() {
        true => RunState::Interrupted,
        false => RunState::Finished,
    };
    recording.watched(length, state);
    let series = storing.measured().1;
    if series.is_empty() {
        recording.record.state = RunState::Failed(NOTHING.into());
    }
    live.bar().finish_and_clear();
    drop(live);
    let mut shown = recording.record.clone();
    shown.series = series;
    let summary = render::render(&shown, Format::Text, lang)?;
    say(&mut out, &summary);
    outputs.keep(&mut recording, &mut storing, &mut out)?;
    drop(held);
    match recording.record.state {
        RunState::Failed(why) => Err(Failure::new(ExitCode::Failed, why)),
        RunState::Interrupted => Ok(ExitCode::Interrupted),
        _ => Ok(ExitCode::Success),
    }
}

/// Why a watch failed of which there is nothing.
const NOTHING: &str = "no source gave a sample; see what was not observed, or watch longer";

/// What the command line may not ask for together.
fn check(words: &args::Watch, target: &Target) -> Result<(), Failure> {
    let (time, interval) = (words.time, words.interval);
    if interval < SHORTEST_INTERVAL {
        return Err(Failure::usage(format!(
            "--interval={}: must be 100ms or more, for example --interval=1s",
            written(interval)
        )));
    }
    if interval > time {
        return Err(Failure::usage(format!(
            "--interval={} is longer than --time={}; for example --interval={} --time={}",
            written(interval),
            written(time),
            written(interval),
            written(interval * 10)
        )));
    }
    if let Some(csv) = words
        .report
        .iter()
        .find(|f| f.extension().is_some_and(|e| e == "csv"))
    {
        return Err(Failure::usage(format!(
            "--report={}: CSV has one row per run, and a watch has no transactions; use .html, .md, .txt or \
             .json, for example --report=watch.html",
            csv.display()
        )));
    }
    let Some(pid) = words.pid else {
        return Ok(());
    };
    if target.protocol == Protocol::Sqlite {
        return Err(Failure::usage(format!(
            "--pid={pid}: SQLite has no server process; leave out --pid"
        )));
    }
    if !words.observe.wants(SERVER_PROCESS) {
        return Err(Failure::usage(format!(
            "--pid={pid} applies only to server-process, which --observe={} does not name; for example \
             --observe={SERVER_PROCESS},{SERVER_STATUS}",
            words.observe
        )));
    }
    if !Path::new(&format!("/proc/{pid}/stat")).exists() {
        return Err(Failure::usage(format!(
            "--pid={pid}: this host has no such process; on Linux, pgrep -o mariadbd or pgrep -o postgres \
             prints the server's"
        )));
    }
    Ok(())
}

/// What the target says of itself.
struct WatchedServer {
    info: ServerInfo,
    on_client: Option<bool>,
    settings: Vec<Setting>,
    disks: Vec<Disk>,
    topology: Option<Topology>,
    notes: Vec<String>,
}

/// Opens a session, asks it, and closes it.
fn describe(
    connector: &Connector,
    observe: &Observe,
    access: &EndpointAccess,
    exporter: Option<HostExporter>,
    file: Option<Topology>,
) -> Result<WatchedServer, Failure> {
    let (connector, observe, access) = (connector.clone(), observe.clone(), access.clone());
    let asked = block_on(async move {
        let mut session = connector.connect(0).await?;
        let mut notes = Vec::new();
        let settings = settings_of(&mut session, &mut notes).await;
        let on_client = on_client(&mut session, &connector);
        let server = WatchedServer {
            info: session.server().clone(),
            on_client,
            disks: data_disks(
                &mut session,
                connector.target(),
                &observe,
                on_client,
                exporter.as_ref(),
            )
            .await,
            settings,
            notes,
            topology: with_members(&mut session, &connector, &observe, &access, file).await,
        };
        session.close().await;
        Ok::<_, DbError>(server)
    });
    let asked = asked.map_err(|e| Failure::new(ExitCode::Failed, e.to_string()))?;
    asked.map_err(|error| EngineError::Connect { session: 0, error }.into())
}

fn record(
    args: &[String],
    words: &args::Watch,
    target: &Target,
    server: WatchedServer,
) -> RunRecord {
    let option = |name: &str, value: String, default: &str| {
        let source = match value == default {
            true => Source::Default,
            false => Source::CommandLine,
        };
        let value = redact_url(&value);
        (name.to_string(), EffectiveOption { value, source })
    };
    let mut options = BTreeMap::from([
        option("time", written(words.time), "60s"),
        option("interval", written(words.interval), "1s"),
        option("observe", words.observe.to_string(), "auto"),
    ]);
    for (name, urls) in [
        ("observe-host", &words.observe_host),
        ("observe-nodes", &words.observe_nodes),
        ("observe-prometheus", &words.observe_prometheus),
    ] {
        options.extend(urls.clone().map(|urls| option(name, urls, "")));
    }
    for (name, file) in [
        ("observe-ca", &words.observe_ca),
        ("topology", &words.topology),
    ] {
        let file = file.as_ref().map(|file| file.display().to_string());
        options.extend(file.map(|file| option(name, file, "")));
    }
    options.extend(words.pid.map(|pid| option("pid", pid.to_string(), "")));
    let metrics = words.metrics.clone();
    options.extend(metrics.map(|metrics| option("metrics", metrics, "")));
    RunRecord {
        schema_version: SCHEMA_VERSION,
        id: Uuid::now_v7().to_string(),
        tidemark_version: env!("TIDEMARK_VERSION").into(),
        started_at: jiff::Timestamp::now().to_string(),
        state: RunState::Running,
        watched_s: Some(0.0),
        command: redact(args),
        workload: WATCH.into(),
        target: target.to_string(),
        latency_end: LatencyEnd::Session,
        target_on_client: server.on_client,
        server: Some(server.info),
        settings: server.settings,
        server_disks: server.disks,
        topology: server.topology,
        notes: server.notes,
        options,
        client: client_host(),
        ..RunRecord::default()
    }
}

/// Samples until the time is over, or until the user ends it; how long that was.
fn observe(
    words: &args::Watch,
    mut record: RunRecord,
    seen: Sources,
    storing: &mut Storing,
    watching: &mut Watching,
    live: &mut LiveOutput<'_>,
) -> (Recording, Duration) {
    watching.started(run_info(&record, &RunSpec::default(), &[]));
    let newest = Arc::new(Mutex::new(Newest::default()));
    let sink: SeriesSink = {
        let (newest, store) = (Arc::clone(&newest), storing.sink());
        Arc::new(move |chunk| {
            let mut newest = newest.lock().unwrap_or_else(PoisonError::into_inner);
            newest.take(&chunk);
            drop(newest);
            store(chunk);
        })
    };
    let sink = watching.showing(sink);
    record.load_began_at = Some(jiff::Timestamp::now().to_string());
    record.observed.clone_from(&seen.unseen);
    // In the store before its first sample.
    storing.begin(&record);
    let begun = Instant::now();
    let recording = Recording::of_watch(record, seen.sources, words.interval, &sink);
    let lang = render::language(&words.lang);
    let stop = interrupt::handle();
    let has_bar = !live.bar().is_hidden();
    let mut next_line = LINE_EVERY;
    while !stop.is_stopped() && begun.elapsed() < words.time {
        std::thread::sleep(LOOK.min(words.time.saturating_sub(begun.elapsed())));
        let elapsed = begun.elapsed();
        let said = || {
            let newest = newest.lock().unwrap_or_else(PoisonError::into_inner);
            newest.said(lang)
        };
        if has_bar {
            live.bar().set_position(elapsed.as_millis() as u64);
            live.bar().set_message(said());
        } else if elapsed >= next_line && elapsed < words.time {
            live.say(&format!("[ {}s ] {}\n", elapsed.as_secs(), said()));
            next_line += LINE_EVERY;
        }
    }
    complain(storing);
    (recording, begun.elapsed())
}

/// The newest values of what a line tells.
#[derive(Debug, Default)]
struct Newest([Option<(f64, bool)>; TOLD.len()]);

impl Newest {
    fn take(&mut self, chunk: &SeriesChunk) {
        for ((source, name, _), value) in TOLD.iter().zip(&mut self.0) {
            if chunk.source != *source {
                continue;
            }
            let is_it = |s: &&Series| s.key.name == *name;
            let last: Vec<(f64, bool)> = chunk
                .series
                .iter()
                .filter(is_it)
                .filter_map(|s| {
                    let point = s.points().ok()?.last()?.ok()?;
                    Some((point.value, s.key.unit == "ratio"))
                })
                .collect();
            let Some((_, is_share)) = last.first() else {
                continue;
            };
            // Of all processors together.
            let sum: f64 = last.iter().map(|(value, _)| value).sum();
            let all = if *is_share {
                sum / last.len() as f64
            } else {
                sum
            };
            *value = Some((all, *is_share));
        }
    }

    fn said(&self, lang: Lang) -> String {
        let told = TOLD.iter().zip(&self.0).filter_map(|((.., says), value)| {
            let (value, is_share) = (*value)?;
            let number = match is_share {
                true => format!("{:.0}", value * 100.0),
                false => significant(value),
            };
            Some(says(lang, &number))
        });
        let told: Vec<String> = told.collect();
        match told.is_empty() {
            true => texts::observing(lang).into(),
            false => told.join(texts::comma(lang)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidemark_core::series::{Measures, SeriesBuilder, SeriesKey};

    #[test]
    fn a_line_tells_the_newest_values_of_each_source() {
        let series = |key: SeriesKey, values: &[f64]| {
            let mut builder = SeriesBuilder::new(key, 2, 1000);
            for (at, value) in (0..).step_by(1000).zip(values) {
                builder.push(at, *value);
            }
            builder.series()
        };
        let chunk = |source: &str, name: &str, unit: &str, values: &[f64]| {
            let key = SeriesKey::new(source, name, unit, Measures::Rate);
            SeriesChunk {
                source: source.into(),
                number: 0,
                series: series(key, values).into_iter().collect(),
            }
        };
        let mut newest = Newest::default();
        assert_eq!(newest.said(Lang::En), "observing");
        newest.take(&chunk(SERVER_STATUS, "queries", "1/s", &[5.0, 1234.0]));
        newest.take(&chunk(CLIENT_HOST, "cpu.busy", "ratio", &[0.25]));
        newest.take(&chunk(CLIENT_HOST, "queries", "1/s", &[7.0]));
        assert_eq!(
            newest.said(Lang::En),
            "1,234 statements/s, 25% of this host's CPU busy"
        );
        let of = |cpu: &str, busy: f64| {
            let key = SeriesKey::new(CLIENT_HOST, "cpu.busy", "ratio", Measures::Gauge);
            series(key.with("cpu", cpu), &[busy])
        };
        let both = [of("0", 0.2), of("1", 0.6)];
        newest.take(&SeriesChunk {
            source: CLIENT_HOST.into(),
            number: 1,
            series: both.into_iter().flatten().collect(),
        });
        assert_eq!(
            newest.said(Lang::Zh),
            "每秒 1,234 条语句，本机 CPU 使用率 40%"
        );
        assert!(
            newest
                .said(Lang::En)
                .ends_with("40% of this host's CPU busy")
        );
        newest.take(&chunk(CLIENT_HOST, "cpu.busy", "ratio", &[0.25]));
        // A stretch without it leaves what was known.
        newest.take(&chunk(SERVER_STATUS, "commits", "1/s", &[3.0]));
        assert_eq!(
            newest.said(Lang::En),
            "1,234 statements/s, 3.00 commits/s, 25% of this host's CPU busy"
        );
    }
}
