//! What the tests share.

use std::sync::Arc;
use std::time::Duration;
use tidemark_core::record::{EncodedHistogram, Interval, Totals};
use tidemark_core::{RunSpec, Target};
use tidemark_drivers::{ConnectOptions, Connector};
use tidemark_engine::{RunObserver, RunResult, Started, StopHandle};
use tidemark_lab::{Lab, LabConfig};
use tidemark_stats::Histogram;
use tidemark_workloads::Workload;

/// A laboratory.
pub fn lab(config: LabConfig) -> Lab {
    Lab::start(config).unwrap()
}

/// Where both protocols' sessions are opened.
pub fn connectors(lab: &Lab) -> [Connector; 2] {
    [lab.mysql_url(), lab.postgres_url()].map(|url| connector(&url.unwrap()))
}

/// Where sessions of `url` are opened.
pub fn connector(url: &str) -> Connector {
    let options = ConnectOptions {
        // Machines that run tests are busy.
        connect_timeout: Duration::from_secs(60),
        ..ConnectOptions::default()
    };
    Connector::new(Target::parse(url).unwrap(), options).unwrap()
}

/// sysbench's point select on one table of 1,000 rows.
pub fn point_select() -> Arc<dyn Workload> {
    let definition = tidemark_workloads::find("oltp_point_select").unwrap();
    let mut options = definition.defaults();
    for (name, value) in [("tables", "1"), ("table-size", "1000")] {
        let source = tidemark_core::Source::CommandLine;
        options.set(name, value, source).unwrap();
    }
    (definition.build)(&options).unwrap()
}

/// Runs point selects as `spec` asks; `started` is called when load begins.
pub fn drive(spec: &RunSpec, connector: &Connector, started: impl FnMut()) -> RunResult {
    let mut observer = Watch(started);
    let stop = StopHandle::default();
    let result =
        tidemark_engine::run(spec, connector, &point_select(), &[], &stop, &mut observer).unwrap();
    assert!(result.failure.is_none(), "{:?}", result.failure);
    result
}

struct Watch<F>(F);

impl<F: FnMut()> RunObserver for Watch<F> {
    fn started(&mut self, _: &Started) {
        (self.0)();
    }
    fn interval(&mut self, _: &Interval) {}
    fn checkpoint(&mut self, _: f64, _: &Totals) {}
}

/// A recorded histogram.
pub fn decode(encoded: &EncodedHistogram) -> Histogram {
    Histogram::decode(&encoded.0).unwrap()
}
