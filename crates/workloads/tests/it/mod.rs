//! This crate's tests, as one program: what it does for its users.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test fails by panicking

mod contract;
mod random;
mod tpcc_population;
mod tpch_answers;
mod tpch_population;
mod tpch_sql;
