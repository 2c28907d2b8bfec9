//! The laboratory, driven by the real drivers.

// clippy.toml allows it in functions marked as tests; these are their helpers.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "../common/mod.rs"]
mod common;
mod faults;
mod protocol;
mod raw;
mod support;
