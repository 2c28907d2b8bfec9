//! What every driver does: each case is written once and run on SQLite, MariaDB and PostgreSQL.
//!
//! A new protocol is a new [`Backend`] here; `every_protocol_has_a_suite` fails until it is one.

mod backend;
mod catalog;
mod ddl;
mod errors;
mod load;
mod locks;
mod many;
mod outcomes;
mod settings;
mod values;
mod waits;

use backend::{Backend, Db};
use tidemark_core::{Engine, Protocol};

/// Makes a module of tests per backend, and the list of backends.
macro_rules! suites {
    (backends: { $($module:ident = $backend:expr;)* } cases: $cases:tt) => {
        const BACKENDS: &[Backend] = &[$($backend),*];
        $(suites!(@suite $module $backend; $cases);)*
    };
    (@suite $module:ident $backend:expr; { $($file:ident: $($case:ident)*;)* }) => {
        mod $module {
            $(mod $file {
                $(#[test]
                fn $case() {
                    use crate::it::contract::backend::Backend;
                    let name = stringify!($case);
                    crate::it::contract::backend::run(name, $backend, |db| crate::it::contract::$file::$case(db));
                })*
            })*
        }
    };
}

suites! {
    backends: {
        sqlite = Backend::Sqlite;
        mariadb = Backend::Mariadb;
        postgres = Backend::Postgres;
    }
    cases: {
        outcomes:
            the_server_names_itself
            rows_and_changes_are_counted
            a_write_that_changes_nothing_is_other
            what_a_savepoint_ends_is_no_transaction
            each_wait_for_an_answer_is_a_round_trip
            rollback_undoes_and_commit_keeps
            rollback_outside_a_transaction_is_taken
            an_open_transaction_is_rolled_back_and_nothing_else_is_sent
            texts_are_kept_with_how_often_they_were_executed;
        values:
            texts_come_back_as_they_went
            integers_come_back_as_they_went
            floats_come_back_as_they_went
            bytes_come_back_as_they_went
            nulls_come_back_as_nulls
            fetch_and_query_read_the_same
            a_text_of_a_megabyte_comes_back;
        errors:
            a_missing_table_is_missing
            a_missing_column_is_missing
            a_second_row_with_a_key_is_a_constraint
            wrong_sql_is_fatal_and_the_session_well
            an_error_within_a_transaction_leaves_it_to_roll_back
            a_wrong_number_of_values_is_an_error;
        load:
            ten_thousand_rows_by_every_method
            a_load_that_fails_leaves_nothing_after_rollback
            a_load_into_a_missing_table_is_missing
            a_load_of_no_rows
            a_sample_tells_the_rows_that_differ
            a_method_of_another_engine_is_refused;
        many:
            many_statements_keep_their_texts
            a_result_of_many_rows_is_counted_and_decoded
            statements_run_again_and_again
            many_sessions_at_once;
        catalog:
            a_table_is_described
            a_table_that_is_not_there_is_none
            names_that_need_quotes
            marks_are_read_back_and_go_with_the_table
            rows_and_keys_are_counted
            contents_tell_every_change
            what_is_summed_in_part_is_not_taken_for_the_whole
            what_is_gone_is_not_dropped_elsewhere
            what_is_not_proven_stays_and_what_is_looked_at_is_held
            tables_with_foreign_keys_are_dropped_in_order
            statistics_are_refreshed;
        ddl:
            generated_keys_follow_the_last
            upserts_update_rows_that_exist
            split_tables_take_rows_or_are_refused;
        settings:
            settings_that_matter_are_told
            the_limit_of_sessions_is_told;
        waits:
            each_statement_takes_the_injected_distance
            a_load_takes_the_distance_a_few_times
            a_statement_that_takes_too_long_is_given_up
            a_statement_in_time_is_not_given_up;
        locks:
            one_client_at_a_time_holds_the_lock
            a_client_lives_while_it_holds_its_lock;
    }
}

#[test]
fn every_protocol_has_a_suite() {
    for engine in Engine::ALL {
        let protocol: Protocol = engine.protocol();
        assert!(
            BACKENDS.iter().any(|b| b.protocol() == protocol),
            "no suite runs on a backend of protocol {protocol}"
        );
    }
}

/// A case of a file that no list names would never run.
#[test]
fn every_case_is_listed() {
    let listed = include_str!("mod.rs");
    for (file, text) in [
        ("outcomes", include_str!("outcomes.rs")),
        ("values", include_str!("values.rs")),
        ("errors", include_str!("errors.rs")),
        ("load", include_str!("load.rs")),
        ("many", include_str!("many.rs")),
        ("catalog", include_str!("catalog.rs")),
        ("ddl", include_str!("ddl.rs")),
        ("settings", include_str!("settings.rs")),
        ("waits", include_str!("waits.rs")),
        ("locks", include_str!("locks.rs")),
    ] {
        let cases = text
            .split("pub async fn ")
            .skip(1)
            .filter_map(|rest| rest.split_once('('));
        for (case, arguments) in cases {
            assert!(arguments.starts_with("db: Db)"), "{file}: {case}");
            assert!(
                listed.contains(&format!("            {case}")),
                "{file}: {case} is in no list"
            );
        }
    }
}
