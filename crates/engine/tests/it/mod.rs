//! This crate's tests, as one program: what it does for its users.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test fails by panicking

mod checking;
mod dropping;
mod loading;
mod making;
mod ownership;
mod place;
mod refreshes;
mod relay;
mod sampling;
mod several_hosts;
mod sharing;
mod streams;
mod tpcc_checks;
mod tpcc_failures;
mod tpcc_runs;
mod tpcc_tables;
mod units;
mod verifying;
