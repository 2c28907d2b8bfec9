//! What the command does, as a user calls it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test fails by panicking

mod bad_input;
mod common;
mod demo;
mod dropping;
mod endless_input;
mod examples;
mod exec;
mod faults;
mod findings;
mod full_disks;
mod host_series;
mod hostile_servers;
mod importing;
mod keeping;
mod loads;
mod observing;
mod odd_defaults;
mod oltpbench;
mod on_terminal;
mod output_files;
mod poolers;
mod read_only_store;
mod report_documents;
mod report_missing;
mod secrets_in_messages;
mod served;
mod silent_servers;
mod studies;
mod studies_cut_off;
mod study_private;
mod study_processes;
mod study_settings;
mod study_view;
mod sysbench_compat;
mod tools;
mod tpcc;
mod tpcc_faults;
mod tpch;
mod tpch_refreshes;
mod tpch_runs;
mod transcripts;
mod two_loads;
mod unusable_runs;
mod ycsb;
