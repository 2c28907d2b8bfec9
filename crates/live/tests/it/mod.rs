//! This crate's tests, as one program: what it does for its users.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test fails by panicking

mod common;
mod dashboard;
mod metrics;
mod view;
mod view_of_queries;
mod view_of_study;
