//! The PostgreSQL driver against real servers, and against false ones that break the protocol.

// clippy.toml allows it in functions marked as tests; these are their helpers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod connect;
mod errors;
mod load;
mod pipeline;
mod statements;
mod support;
