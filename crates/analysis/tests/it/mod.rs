//! This crate's tests, as one program: what it does for its users.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test fails by panicking

mod clients;
mod common;
mod comparisons;
mod conditions;
mod dead_time;
mod determined;
mod imported;
mod limits;
mod logs;
mod lost;
mod observed;
mod options;
mod rows;
mod rules;
mod sampled;
mod settings;
mod states;
mod tools;
mod tpcc;
mod users;
mod words;
