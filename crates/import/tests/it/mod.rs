//! Tests of whole documents.

mod aligned;
mod attribution;
mod documents;
mod hdr;
mod hostile;
mod k6;
mod logs;
mod objectives;
mod outputs;
mod pgbench;
mod reading;
mod series;
mod styles;
mod sysbench;
mod table_forms;
mod tables;
mod tools;
mod turned;
mod variants;
