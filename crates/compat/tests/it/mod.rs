//! This crate's tests, as one program: what it does for its users.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test fails by panicking

#[path = "../../../report/tests/it/common/mod.rs"]
mod common;
mod parsed;
mod sysbench_output;
mod tpcc_results;
