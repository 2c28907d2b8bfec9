//! Values of settings as people read them: bytes with a unit, and without what only says where a
//! server's files lie.

/// Units of bytes, the largest first.
const UNITS: [(&str, u64); 5] = [
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("B", 1),
];

/// How names of settings end whose numbers are bytes (MySQL manual, Server System Variables; MariaDB
/// knowledge base).
const BYTES: [&str; 6] = [
    "_size",
    "_capacity",
    "_allowed_packet",
    "_mem_quota_query",
    "_cache_limit",
    "thread_stack",
];
/// Of these, numbers of entries.
const COUNTS: [&str; 8] = [
    "thread_cache_size",
    "host_cache_size",
    "thread_pool_size",
    "innodb_sync_array_size",
    "metadata_locks_cache_size",
    "io_capacity",
    "plan_cache_size",
    "history_size",
];
/// Of SQLite, a number of pages.
const PAGES: &str = "cache_size";

/// Where files lie, how a server is called, and what nobody compares, of MariaDB, MySQL and PostgreSQL.
const PLACES: [&str; 42] = [
    "basedir",
    "character_sets_dir",
    "cluster_name",
    "config_file",
    "data_directory",
    "datadir",
    "datestyle",
    "default_text_search_config",
    "external_pid_file",
    "general_log_file",
    "gtid_binlog_pos",
    "gtid_binlog_state",
    "gtid_current_pos",
    "gtid_executed",
    "gtid_purged",
    "hba_file",
    "hostname",
    "ident_file",
    "innodb_version",
    "last_insert_id",
    "lc_messages_dir",
    "listen_addresses",
    "log_directory",
    "log_error",
    "log_file_mode",
    "log_filename",
    "log_timezone",
    "pid_file",
    "plugin_dir",
    "port",
    "report_port",
    "secure_file_priv",
    "server_id",
    "server_uuid",
    "slow_query_log_file",
    "socket",
    "system_time_zone",
    "timezone",
    "tmpdir",
    "unix_socket_directories",
    "unix_socket_permissions",
    "wsrep_node_name",
];

/// What a server computed for itself, knows of its build, or needs for features that no benchmark uses,
/// each with why it tells nothing of a result.
const NOISE: [(&str, &str); 12] = [
    ("back_log", "follows max_connections"),
    ("have_openssl", "of the build"),
    (
        "have_ssl",
        "of the build; the target's URL says whether TLS is used",
    ),
    (
        "host_cache_size",
        "follows max_connections; addresses of clients",
    ),
    (
        "innodb_buffer_pool_size_auto_min",
        "a limit of the pool's size, which has a row",
    ),
    (
        "innodb_buffer_pool_size_max",
        "a limit of the pool's size, which has a row",
    ),
    ("large_page_size", "of the machine"),
    ("license", "of the build"),
    ("pseudo_thread_id", "a number of the session"),
    ("server_uid", "an identity"),
    ("slave_load_tmpdir", "a place"),
    ("slave_skip_errors", "of replicas"),
];

/// Whether a reader learns something of how the server works from it.
pub(crate) fn is_telling(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is_noise = NOISE.iter().any(|(noise, _)| *noise == name);
    !is_noise && !PLACES.contains(&name.as_str()) && !name.starts_with("version")
}

/// A value with its unit where that is certain: `128 MiB` of 134217728.
pub(crate) fn readable(name: &str, value: &str) -> String {
    let name = name.to_ascii_lowercase();
    let ends = |names: &[&str]| names.iter().any(|end| name.ends_with(end));
    let is_bytes = ends(&BYTES) && !ends(&COUNTS) && name != PAGES;
    let is_count = name.starts_with("performance_schema") || !is_bytes;
    let number = value.parse::<u64>().ok();
    match number.filter(|n| !is_count && *n >= 1024 && n.is_multiple_of(512)) {
        Some(n) => with_unit(n),
        None => value.into(),
    }
}

/// In the largest unit in which it is exact with two decimals.
fn with_unit(n: u64) -> String {
    let exact = |(_, size): &&(&str, u64)| {
        let hundredths = u128::from(n) * 100;
        n >= *size && hundredths.is_multiple_of(u128::from(*size))
    };
    let (unit, size) = UNITS.iter().find(exact).copied().unwrap_or(("B", 1));
    let (whole, part) = (n / size, u128::from(n % size) * 100 / u128::from(size));
    let part = format!("{part:02}");
    match part.trim_end_matches('0') {
        "" => format!("{whole} {unit}"),
        part => format!("{whole}.{part} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_a_unit_and_counts_have_none() {
        for (name, value, shown) in [
            ("innodb_buffer_pool_size", "134217728", "128 MiB"),
            ("innodb_redo_log_capacity", "1610612736", "1.5 GiB"),
            ("max_allowed_packet", "16777216", "16 MiB"),
            ("innodb_page_size", "16384", "16 KiB"),
            ("innodb_log_file_size", "100663296", "96 MiB"),
            ("tmp_table_size", "16777217", "16777217"),
            ("thread_cache_size", "2048", "2048"),
            ("innodb_io_capacity", "2048", "2048"),
            ("cache_size", "2048", "2048"),
            ("performance_schema_digests_size", "10240", "10240"),
            ("shared_buffers", "128MB", "128MB"),
            ("max_connections", "1024", "1024"),
            ("sort_buffer_size", "0", "0"),
        ] {
            assert_eq!(readable(name, value), shown, "{name}");
        }
    }

    #[test]
    fn where_files_lie_is_noise() {
        assert!(
            !is_telling("datadir") && !is_telling("TimeZone") && !is_telling("version_comment")
        );
        assert!(!is_telling("have_ssl") && !is_telling("innodb_buffer_pool_size_auto_min"));
        assert!(is_telling("innodb_buffer_pool_size"));
        assert!(is_telling("innodb_flush_method") && is_telling("wal_level"));
    }
}
