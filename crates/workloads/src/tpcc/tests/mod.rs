//! Each transaction against a small known database, on SQLite, MariaDB and PostgreSQL, with
//! statements in batches and single ones, prepared and as text: the rows before and after.

mod fixture;
mod inputs;
mod sql_text;
mod transactions;
