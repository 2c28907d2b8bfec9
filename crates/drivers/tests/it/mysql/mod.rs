//! The MySQL-protocol driver: against a real MariaDB, and against scripts of what no server here
//! does.

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
