//! The MySQL-protocol driver: against a real MariaDB, and against scripts of what no server here
//! does.

// clippy.toml allows it in functions marked as tests; these are their helpers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod accounts;
mod columns;
mod errors;
mod hostile;
mod load;
mod pipeline;
mod pipeline_hostile;
mod script;
mod sha2_password;
mod statements;
mod support;
