//! This crate's tests, as one program: what it does for its users.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test fails by panicking

mod authored;
mod browser;
mod chart_files;
mod clients;
mod common;
mod comparison_limits;
mod costs;
mod experiments;
mod load_reports;
mod many;
mod many_hostile;
mod many_imported;
mod many_invalid;
mod many_limits;
mod many_matrix;
mod many_objective;
mod many_resources;
mod many_scaling;
mod many_together;
mod many_varied;
mod many_workloads;
mod odd_records;
mod pages;
mod reports;
mod series;
mod settings;
mod step_reports;
mod topology;
