//! The options of every tool, by what a job says.

use super::{LoadOption, load_option};
use tidemark_core::duration_text::written;
use tidemark_core::job::Clients;
use tidemark_core::{
    Arrivals, DisconnectPolicy, FewerSessions, FindMax, Job, Pacing, PreparedMode, Rates,
};

fn on(flag: bool) -> Option<String> {
    Some(if flag { "on" } else { "off" }.into())
}

fn number<T: std::fmt::Display>(value: Option<T>) -> Option<String> {
    Some(value.map_or_else(|| "0".into(), |value| value.to_string()))
}

fn search(job: &Job) -> Option<&FindMax> {
    match &job.load.pacing {
        Pacing::FindMax(search) => Some(search),
        _ => None,
    }
}

/// What the job says of its clients; nothing of one that has none.
fn clients(job: &Job, said: impl FnOnce(&Clients) -> Option<String>) -> Option<String> {
    Some(job.clients.as_ref().and_then(said).unwrap_or_default())
}

/// As `--rate` takes it.
fn rate(job: &Job) -> Option<String> {
    let rates = match &job.load.pacing {
        Pacing::Closed | Pacing::FindMax(_) => Rates::Closed,
        Pacing::Rate(rate) => Rates::One(*rate),
        Pacing::Steps(steps) => Rates::Steps(steps.iter().map(|s| s.per_second).collect()),
    };
    Some(rates.to_string())
}

/// Options of the load, the sessions, the watchers and the outputs.
pub const NATIVE_SETTINGS: &[LoadOption] = &[
    load_option("threads", "load.terminals", |j| {
        Some(j.load.terminals.to_string())
    }),
    load_option("connections", "load.sessions", |j| {
        number(Some(j.load.sessions).filter(|n| *n != j.load.terminals))
    }),
    load_option("think-time", "load.think_time", |j| {
        Some(j.load.think_time.to_string())
    }),
    load_option("connect-rate", "load.connect_rate", |j| {
        number(j.load.connect_rate)
    }),
    load_option("fewer-sessions", "load.fewer_sessions", |j| {
        Some(match j.load.fewer_sessions {
            FewerSessions::Fail => "fail".into(),
            FewerSessions::GoOn => "go-on".into(),
        })
    }),
    load_option("executors", "load.executors", |j| number(j.load.executors)),
    load_option("scheduling", "load.yield_to_server", |j| {
        Some(
            if j.load.yield_to_server {
                "batch"
            } else {
                "normal"
            }
            .into(),
        )
    }),
    load_option("rate", "load.pacing", rate),
    load_option("rate-hold", "load.pacing.steps", |j| match &j.load.pacing {
        Pacing::Steps(steps) => steps.first().map(|s| written(s.hold)),
        _ => None,
    }),
    load_option("arrivals", "load.arrivals", |j| {
        Some(match j.load.arrivals {
            Arrivals::Poisson => "poisson".into(),
            Arrivals::Constant => "constant".into(),
        })
    }),
    load_option("max-backlog", "load.max_backlog", |j| {
        Some(j.load.max_backlog.to_string())
    }),
    load_option("find-max", "load.pacing.find-max.objective", |j| {
        search(j).map(|s| s.objective.to_string())
    }),
    load_option("find-from", "load.pacing.find-max.first_rate", |j| {
        search(j).and_then(|s| number(s.first_rate))
    }),
    load_option("find-hold", "load.pacing.find-max.hold", |j| {
        search(j).map(|s| written(s.hold))
    }),
    load_option("find-confirm", "load.pacing.find-max.confirm", |j| {
        search(j).map(|s| written(s.confirm))
    }),
    load_option("find-precision", "load.pacing.find-max.precision", |j| {
        search(j).map(|s| s.precision.to_string())
    }),
    load_option("inject-rtt", "load.inject_rtt", |j| {
        Some(written(j.load.inject_rtt))
    }),
    load_option("statement-timeout", "load.statement_timeout", |j| {
        Some(written(j.load.statement_timeout.unwrap_or_default()))
    }),
    load_option("isolation", "load.isolation", |j| {
        Some(
            j.load
                .isolation
                .map_or("default", |level| level.name())
                .into(),
        )
    }),
    load_option("db-ps-mode", "load.prepared", |j| {
        Some(match j.load.prepared {
            PreparedMode::Server => "auto".into(),
            PreparedMode::Text => "disable".into(),
        })
    }),
    load_option("connect-timeout", "load.connect_timeout", |j| {
        Some(written(j.load.connect_timeout))
    }),
    load_option("on-disconnect", "load.on_disconnect", |j| {
        Some(match j.load.on_disconnect {
            DisconnectPolicy::Fail => "fail".into(),
            DisconnectPolicy::Reconnect => "reconnect".into(),
        })
    }),
    load_option("reconnect-timeout", "load.reconnect_timeout", |j| {
        Some(written(j.load.reconnect_timeout))
    }),
    load_option("setup-timeout", "session.setup_timeout", |j| {
        Some(written(j.session.setup_timeout))
    }),
    load_option("set-session", "session.settings", |j| {
        Some(j.session.settings.join(";"))
    }),
    load_option("busy-poll", "load.busy_poll", |j| {
        Some(written(j.load.busy_poll))
    }),
    load_option("clients", "clients.hosts", |j| {
        clients(j, |c| Some(c.hosts.clone()))
    }),
    load_option("nats", "clients.nats", |j| clients(j, |c| c.nats.clone())),
    load_option("nats-creds", "clients.creds", |j| {
        clients(j, |c| {
            c.creds.as_ref().map(|file| file.display().to_string())
        })
    }),
    load_option("nats-ca", "clients.ca", |j| {
        clients(j, |c| c.ca.as_ref().map(|file| file.display().to_string()))
    }),
    load_option("on-client-loss", "clients.on_loss", |j| {
        let on_loss = j.clients.as_ref().map(|c| c.on_loss);
        Some(on_loss.unwrap_or_default().word().into())
    }),
    load_option("view", "watch.view", |j| on(j.watch.view)),
    load_option("metrics", "watch.metrics", |j| {
        Some(j.watch.metrics.clone().unwrap_or_default())
    }),
    load_option("metrics-linger", "watch.metrics_linger", |j| {
        Some(written(j.watch.metrics_linger))
    }),
    load_option("observe", "watch.observe", |j| {
        Some(j.watch.observe.to_string())
    }),
    load_option("observe-host", "watch.observe_host", |j| {
        Some(j.watch.observe_host.clone().unwrap_or_default())
    }),
    load_option("observe-nodes", "watch.observe_nodes", |j| {
        Some(j.watch.observe_nodes.clone().unwrap_or_default())
    }),
    load_option("observe-prometheus", "watch.observe_prometheus", |j| {
        Some(j.watch.observe_prometheus.clone().unwrap_or_default())
    }),
    load_option("observe-ca", "watch.observe_ca", |j| {
        let path = j.watch.observe_ca.as_ref();
        Some(path.map(|p| p.display().to_string()).unwrap_or_default())
    }),
    load_option("topology", "watch.topology", |j| {
        let path = j.watch.topology.as_ref();
        Some(path.map(|p| p.display().to_string()).unwrap_or_default())
    }),
    load_option("store", "outputs.store", |j| {
        Some(j.outputs.store.clone().unwrap_or_default())
    }),
    load_option("out", "outputs.record", |j| {
        let path = j.outputs.record.as_ref();
        Some(path.map(|p| p.display().to_string()).unwrap_or_default())
    }),
    load_option("report", "outputs.reports", |j| {
        let files = j.outputs.reports.iter();
        let files: Vec<String> = files.map(|p| p.display().to_string()).collect();
        Some(files.join(","))
    }),
    load_option("lang", "outputs.lang", |j| Some(j.outputs.lang.clone())),
    load_option("overwrite", "outputs.overwrite", |j| {
        on(j.outputs.overwrite)
    }),
    load_option("tag", "outputs.tags", |j| Some(j.outputs.tags.join(","))),
    load_option("note", "outputs.note", |j| Some(j.outputs.note.clone())),
    load_option("force", "force", |j| on(j.force)),
    load_option("strict", "strict", |j| on(j.strict)),
];

/// Options of every tool's loads.
pub const PREPARATION: &[LoadOption] = &[
    load_option("replace", "prepare.replace", |j| {
        on(j.prepare.as_ref()?.replace)
    }),
    load_option("keep-loaded", "prepare.keep_loaded", |j| {
        on(j.prepare.as_ref()?.keep_loaded)
    }),
    load_option("chunk-rows", "prepare.chunk_rows", |j| {
        Some(j.prepare.as_ref()?.chunk_rows.to_string())
    }),
    load_option("load-method", "prepare.method", |j| {
        Some(j.prepare.as_ref()?.method.word().into())
    }),
];
