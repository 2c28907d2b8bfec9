//! What every workload does: each is prepared, run and checked on SQLite, MariaDB and PostgreSQL,
//! with statements prepared on the server and sent as text.
//!
//! A new workload is one more line of `suites!` and at least one of [`cases::CASES`]; the meta-tests
//! fail until it has them and a section in `docs/workloads.md`.

mod backend;
mod cases;
mod concurrent;
mod documentation;
mod failures;
mod interop;
mod partitions;
mod steps;
mod tool;
mod wire;
mod ycsb;

use backend::Backend;

/// Makes a module of tests per backend, and the lists of backends and workloads.
macro_rules! suites {
    (backends: { $($module:ident = $backend:expr;)* } workloads: $workloads:tt failures: $failures:tt ycsb: $ycsb:tt) => {
        $(suites!(@suite $module $backend; $workloads $failures $ycsb);)*
        suites!(@list $workloads);
    };
    (@list { $($workload:ident)* }) => {
        const WORKLOADS: &[&str] = &[$(stringify!($workload)),*];
    };
    (@suite $module:ident $backend:expr; { $($workload:ident)* } { $($failure:ident)* } { $($ycsb:ident)* }) => {
        mod $module {
            $(#[test]
            fn $workload() {
                crate::it::contract::steps::run_cases(stringify!($workload), $backend);
            })*
            $(#[test]
            fn $failure() {
                let name = stringify!($failure);
                crate::it::contract::backend::run(name, $backend, |db| crate::it::contract::failures::$failure(db));
            })*
            $(#[test]
            fn $ycsb() {
                let name = stringify!($ycsb);
                crate::it::contract::backend::run(name, $backend, |db| crate::it::contract::ycsb::$ycsb(db));
            })*
        }
    };
}

suites! {
    backends: {
        sqlite = crate::it::contract::Backend::Sqlite;
        mariadb = crate::it::contract::Backend::Mariadb;
        postgres = crate::it::contract::Backend::Postgres;
    }
    workloads: {
        oltp_point_select oltp_read_only oltp_read_write oltp_write_only oltp_insert oltp_delete
        oltp_update_index oltp_update_non_index bulk_insert select_random_points
        select_random_ranges oltp_insert_batch oltp_upsert_batch tpcc tpch ycsb pgbench
    }
    failures: {
        a_missing_table_is_said_when_statements_are_prepared
        a_missing_row_fails_validation
        a_spoilt_text_fails_validation
        a_session_that_was_replaced_is_prepared_again
        bulk_inserts_are_cut_where_sysbench_cuts_them
        bulk_inserts_go_on_after_a_duplicate_key
        a_drawn_key_that_is_taken_is_drawn_again
    }
    ycsb: {
        a_spoilt_value_fails_data_integrity
        missing_records_and_updates_of_nothing_are_noted
        a_read_modify_write_has_its_parts
        tables_that_go_ycsb_made_serve_and_are_told_from_others
    }
}

#[test]
fn every_workload_has_its_suite_and_a_case() {
    for definition in tidemark_workloads::registry() {
        let name = definition.name;
        assert!(WORKLOADS.contains(&name), "{name} has no suite");
        assert!(cases::of(name).next().is_some(), "{name} has no case");
    }
    for case in cases::CASES {
        assert!(WORKLOADS.contains(&case.workload), "nothing runs {case:?}");
    }
}
