//! Who watches a run beside the command's own lines: Prometheus (`--metrics`), and the view that
//! fills the terminal (`--view`).

use crate::exit::Failure;
use crate::render::language;
use crate::{interrupt, pacing};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tidemark_core::RunSpec;
use tidemark_core::duration_text::written;
use tidemark_core::job::Watch;
use tidemark_core::record::{ErrorCount, Interval, Phase, RunRecord};
use tidemark_live::{
    Asking, ClientNow, Controls, Metrics, MetricsAddress, MetricsError, Newest, Picture,
    QueriesPicture, RunInfo, View,
};
use tidemark_observe::SeriesSink;
use tidemark_report::Lang;

/// How often the wait at the end looks whether the user ended it.
const LOOK: Duration = Duration::from_millis(50);

/// The watchers of a command's runs.
pub struct Watching {
    metrics: Option<Metrics>,
    /// How long figures are served after the end.
    linger: Duration,
    wants_view: bool,
    view: Option<RunDisplay>,
    /// What is observed of the run.
    newest: Newest,
    /// Whether there was a run.
    began: bool,
}

/// What the terminal shows.
enum RunDisplay {
    Run(View<Picture>),
    /// Of streams of queries, and when it was opened.
    Queries(View<QueriesPicture>, Instant),
}

impl Watching {
    /// As the job asks for. Figures are served from here on, so that a port that is taken is told
    /// before anything is begun.
    ///
    /// # Errors
    /// [`Failure`] of bad usage when `--metrics` is no address, or one that can't be listened at.
    pub fn new(watch: &Watch) -> Result<Self, Failure> {
        let metrics = match &watch.metrics {
            Some(address) => Some(serve(address)?),
            None if !watch.metrics_linger.is_zero() => {
                return Err(Failure::usage(format!(
                    "--metrics-linger={} applies only to --metrics; for example --metrics=9090",
                    written(watch.metrics_linger)
                )));
            }
            None => None,
        };
        Ok(Self {
            metrics,
            linger: watch.metrics_linger,
            wants_view: watch.view,
            view: None,
            newest: Newest::default(),
            began: false,
        })
    }

    /// Shows the newest of what goes to `sink`, too, where there is a view, and serves it where figures are
    /// served. Of an earlier run nothing stays.
    pub fn showing(&mut self, sink: SeriesSink) -> SeriesSink {
        let sink = match &self.metrics {
            None => sink,
            Some(metrics) => served(metrics, sink),
        };
        if !self.wants_view {
            return sink;
        }
        self.newest = Newest::default();
        let newest = self.newest.clone();
        Arc::new(move |chunk| {
            newest.take(&chunk);
            sink(chunk);
        })
    }

    /// A run's load begins. Whether a view has the terminal now.
    pub fn started(&mut self, info: RunInfo) -> bool {
        self.began = true;
        if let Some(metrics) = &self.metrics {
            metrics.started(info.clone());
        }
        if self.wants_view {
            let picture = Picture::new(info).observing(self.newest.clone());
            let view = View::open(picture, controls());
            self.view = view.map(RunDisplay::Run);
        }
        self.has_view()
    }

    /// Streams of queries begin: these, and so many in all where that is known. Whether a view has
    /// the terminal now.
    pub fn streams_started(&mut self, info: RunInfo, names: Vec<String>, all: Option<u64>) -> bool {
        self.began = true;
        if let Some(metrics) = &self.metrics {
            metrics.started(info.clone());
        }
        if self.wants_view {
            let info = RunInfo {
                types: names,
                ..info
            };
            let view = View::open(QueriesPicture::new(info, all), controls());
            self.view = view.map(|view| RunDisplay::Queries(view, Instant::now()));
        }
        self.has_view()
    }

    /// A stream asks a query.
    pub fn query_begins(&mut self, stream: u64, called: String, query: &str) {
        if let Some(RunDisplay::Queries(view, opened)) = &self.view {
            let (query, at) = (query.to_string(), opened.elapsed());
            view.change(move |p| p.begins(stream, &called, &query, at));
        }
    }

    /// What a stream asked has ended.
    pub fn query_ends(&mut self, stream: u64, query: &str, took: Duration, how: Asking) {
        if let Some(RunDisplay::Queries(view, _)) = &self.view {
            let query = query.to_string();
            view.change(move |p| p.ends(stream, &query, took, how));
        }
    }

    /// Whether the user sees a view, and no lines.
    pub fn has_view(&self) -> bool {
        match &self.view {
            None => false,
            Some(RunDisplay::Run(view)) => view.is_open(),
            Some(RunDisplay::Queries(view, _)) => view.is_open(),
        }
    }

    /// Errors were counted.
    pub fn errors(&mut self, phase: Phase, errors: &[ErrorCount]) {
        if let Some(metrics) = &self.metrics {
            metrics.errors(phase, errors);
        }
        let errors = errors.to_vec();
        match &self.view {
            None => {}
            Some(RunDisplay::Run(view)) => view.change(move |p| p.errors(&errors)),
            Some(RunDisplay::Queries(view, _)) => view.change(move |p| p.errors(&errors)),
        }
    }

    /// An interval ended.
    pub fn interval(&mut self, interval: &Interval) {
        if let Some(metrics) = &self.metrics {
            metrics.interval(interval);
        }
        if let Some(RunDisplay::Run(view)) = &self.view {
            let interval = interval.clone();
            view.change(move |p| p.interval(&interval));
        }
    }

    /// Whether somebody is shown how each of several clients is.
    pub fn shows_clients(&self) -> bool {
        self.metrics.is_some() || matches!(self.view, Some(RunDisplay::Run(_)))
    }

    /// How the clients are that make the load together.
    pub fn clients(&mut self, clients: Vec<ClientNow>) {
        if let Some(metrics) = &self.metrics {
            metrics.clients(clients.clone());
        }
        if let Some(RunDisplay::Run(view)) = &self.view {
            view.change(move |p| p.clients(clients));
        }
    }

    /// The load is over: the view goes. Figures stay.
    pub fn ended(&mut self) {
        self.view = None;
        if let Some(metrics) = &self.metrics {
            metrics.ended();
        }
    }
}

impl Drop for Watching {
    /// Whatever way a command ends after its run, the last figures are there to be fetched for as
    /// long as the user wants.
    fn drop(&mut self) {
        if self.metrics.is_none() || !self.began || std::thread::panicking() {
            return;
        }
        let (stop, end) = (interrupt::handle(), Instant::now() + self.linger);
        while !stop.is_stopped() && Instant::now() < end {
            std::thread::sleep(LOOK);
        }
    }
}

/// What Ctrl-C does in a run's view.
fn controls() -> Controls {
    Controls {
        interrupt: Box::new(interrupt::asked),
        is_ending: Box::new(|| interrupt::handle().is_stopped()),
    }
}

/// Serves the newest of what goes to `sink`, too.
fn served(metrics: &Metrics, sink: SeriesSink) -> SeriesSink {
    let observing = metrics.observing();
    Arc::new(move |chunk| {
        observing(&chunk);
        sink(chunk);
    })
}

fn serve(address: &str) -> Result<Metrics, Failure> {
    let failed = |e: MetricsError| {
        Failure::usage(match &e {
            // It begins with what was typed.
            MetricsError::Address(_) => format!("--metrics={e}"),
            MetricsError::Bind { .. } => {
                format!("--metrics={address}: {e}; for example --metrics=0")
            }
        })
    };
    let address: MetricsAddress = address.parse().map_err(failed)?;
    let metrics = Metrics::serve(&address).map_err(failed)?;
    // Not on standard output, whose lines scripts read.
    eprintln!("Metrics: http://{}/metrics", metrics.address());
    Ok(metrics)
}

/// What watchers are told of a run when its load begins.
pub fn run_info(record: &RunRecord, spec: &RunSpec, types: &[&str]) -> RunInfo {
    let server = record.server.as_ref();
    let place = record.study.as_ref();
    RunInfo {
        id: record.id.clone(),
        workload: record.workload.clone(),
        engine: server.map_or_else(String::new, |s| s.engine.to_string()),
        version: server.map_or_else(String::new, |s| s.version.clone()),
        tidemark_version: record.tidemark_version.clone(),
        study: place.map(|p| (p.name.clone(), p.cell.clone())),
        types: types.iter().map(ToString::to_string).collect(),
        sessions: record.sessions_opened.unwrap_or(record.sessions),
        terminals: spec.own().terminals,
        warmup: spec.warmup,
        length: pacing::length(spec),
        open_loop: spec.pacing.is_open_loop(),
        lang: record
            .job
            .as_ref()
            .map_or_else(Lang::default, |job| language(&job.outputs.lang)),
    }
}
