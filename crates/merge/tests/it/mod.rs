//! What is merged is what one client with all samples would have.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test fails by panicking

mod common;
mod live;
mod records;
mod sums;
