//! A run while it goes on, for those who watch it: figures for Prometheus ([`Metrics`]), and a view
//! that fills the terminal ([`View`]): of a run, of streams of queries, or of a study.
//!
//! Both are told what the run's observer is told, from whose intervals everything they show comes,
//! and neither can hold the run up: who reads slowly, or floods the port, waits or is sent away.
//!
//! ```
//! use std::io::{Read, Write};
//! use tidemark_live::{Metrics, RunInfo};
//! let metrics = Metrics::serve(&"127.0.0.1:0".parse()?)?;
//! metrics.started(RunInfo { workload: "oltp_read_only".into(), ..RunInfo::default() });
//! let mut scrape = std::net::TcpStream::connect(metrics.address())?;
//! scrape.write_all(b"GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")?;
//! let mut page = String::new();
//! scrape.read_to_string(&mut page)?;
//! assert!(page.contains("workload=\"oltp_read_only\""));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(test)]
extern crate self as tidemark_live;
#[cfg(test)]
#[path = "../tests/it/mod.rs"]
mod it;

mod clients;
mod info;
mod metrics;
mod newest;
mod texts;
mod view;

pub use clients::{ClientNow, ClientStage};
pub use info::RunInfo;
pub use metrics::{Metrics, MetricsAddress, MetricsError, RunMetrics, upper_bounds_ns};
pub use newest::Newest;
pub use view::{
    Asking, Controls, NowRunning, Picture, QueriesPicture, Scene, StudyInfo, StudyPicture, View,
    draw, restore_terminal, terminal_is_taken,
};
