//! This crate's tests, as one program: what it does for its users.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test fails by panicking

mod account;
mod exporters;
mod https;
mod kept;
mod mid_run;
mod network;
mod nodes;
mod prometheus;
mod servers;
mod sources;
mod statements_mid_run;
mod types;
