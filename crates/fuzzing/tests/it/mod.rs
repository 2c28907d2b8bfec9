//! This crate's tests, as one program: what it does for its users.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test fails by panicking

mod recorded;
#[path = "../../examples/seeds/records.rs"]
mod records;
mod replay;
mod seeds;
mod written;

use seeds::write;

#[test]
fn a_record_and_a_store_of_today_are_read() {
    records::records();
    records::a_store();
}
