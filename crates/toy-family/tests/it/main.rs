//! This crate's tests, as one program: what it does for its users.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test fails by panicking

mod named;
mod toy;
