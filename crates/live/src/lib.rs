//! A run while it goes on, for those who watch it: figures for Prometheus ([`Metrics`]), and a view
//! that fills the terminal ([`View`]): of a run, of streams of queries, or of a study.
//!
//! Both are told what the run's observer is told, from whose intervals everything they show comes,
//! and neither can hold the run up: who reads slowly, or floods the port, waits or is sent away.

#[cfg(test)]
extern crate self as tidemark_live;
#[cfg(test)]
#[path = "../tests/it/mod.rs"]
mod it;

mod info;
mod metrics;
mod view;

pub use info::RunInfo;
pub use metrics::{Figures, Metrics, MetricsAddress, MetricsError, upper_bounds_ns};
pub use view::{
    Asking, Controls, NowRunning, Picture, QueriesPicture, Scene, StudyInfo, StudyPicture, View,
    draw, restore_terminal, terminal_is_taken,
};
