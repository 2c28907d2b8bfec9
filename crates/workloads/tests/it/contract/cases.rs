//! Each workload's cases: options, and what a transaction must then be counted as.

/// What happens to the number of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rows {
    /// It stays.
    Same,
    /// Each transaction adds so many.
    Grow(u64),
    /// Each statement that changed something removed one.
    Shrink,
    /// What the workload's own conditions allow. Its tables are large: they are loaded once, and
    /// cases and modes follow each other on them.
    Conditions,
    /// It has no transactions of terminals: its tables are made, filled, looked at and prewarmed.
    NoTransactions,
}

/// One way to run a workload.
#[derive(Debug)]
pub struct Case {
    pub workload: &'static str,
    pub options: &'static [(&'static str, &'static str)],
    /// Statements of one transaction: read, write, other. `None`: they vary.
    pub counts: Option<(u64, u64, u64)>,
    pub rows: Rows,
}

const fn case(
    workload: &'static str,
    options: &'static [(&'static str, &'static str)],
    counts: (u64, u64, u64),
    rows: Rows,
) -> Case {
    Case {
        workload,
        options,
        counts: Some(counts),
        rows,
    }
}

const COMMON: &[(&str, &str)] = &[("tables", "3"), ("table-size", "300")];

const ONE_TABLE: &[(&str, &str)] = &[("table-size", "300")];

/// Options common to all cases; a case's own come after them.
pub fn common(workload: &str) -> &'static [(&'static str, &'static str)] {
    match workload {
        "bulk_insert" => &[],
        "tpcc" => &[("warehouses", "1")],
        "tpch" => &[("sf", "0.01")],
        "ycsb" => &[
            ("recordcount", "300"),
            ("fieldcount", "3"),
            ("fieldlength", "20"),
        ],
        "pgbench" => &[("protocol", "prepared")],
        "select_random_points" | "select_random_ranges" => ONE_TABLE,
        _ => COMMON,
    }
}

const YCSB_READ: &[(&str, &str)] = &[("readproportion", "1"), ("updateproportion", "0")];

/// The cases of one workload.
pub fn of(workload: &str) -> impl Iterator<Item = &'static Case> {
    CASES.iter().filter(move |c| c.workload == workload)
}

/// All cases. The counts are those that `docs/workloads.md` gives.
pub const CASES: &[Case] = &[
    case("oltp_point_select", &[], (1, 0, 0), Rows::Same),
    case(
        "oltp_point_select",
        &[("rand-type", "zipfian"), ("point-selects", "5")],
        (1, 0, 0),
        Rows::Same,
    ),
    case("oltp_read_only", &[], (14, 0, 2), Rows::Same),
    case(
        "oltp_read_only",
        &[("range-selects", "off"), ("point-selects", "3")],
        (3, 0, 2),
        Rows::Same,
    ),
    case(
        "oltp_read_only",
        &[
            ("skip-trx", "on"),
            ("sum-ranges", "4"),
            ("rand-type", "uniform"),
        ],
        (17, 0, 0),
        Rows::Same,
    ),
    case("oltp_read_write", &[], (14, 4, 2), Rows::Same),
    case(
        "oltp_read_write",
        &[
            ("skip-trx", "on"),
            ("auto-inc", "off"),
            ("rand-type", "uniform"),
        ],
        (14, 4, 0),
        Rows::Same,
    ),
    case(
        "oltp_read_write",
        &[
            ("point-selects", "2"),
            ("simple-ranges", "2"),
            ("sum-ranges", "0"),
            ("order-ranges", "3"),
            ("distinct-ranges", "2"),
            ("index-updates", "2"),
            ("non-index-updates", "3"),
            ("delete-inserts", "2"),
            ("range-size", "7"),
            ("key-order", "random"),
            ("rand-type", "pareto"),
        ],
        (9, 9, 2),
        Rows::Same,
    ),
    case(
        "oltp_read_write",
        &[("pgsql-variant", "redshift"), ("rand-type", "gaussian")],
        (14, 2, 2),
        Rows::Same,
    ),
    case("oltp_write_only", &[], (0, 4, 2), Rows::Same),
    case(
        "oltp_write_only",
        &[("create-secondary", "off"), ("delete-inserts", "3")],
        (0, 8, 2),
        Rows::Same,
    ),
    case("oltp_insert", &[], (0, 1, 0), Rows::Grow(1)),
    case(
        "oltp_insert",
        &[("auto-inc", "off")],
        (0, 1, 0),
        Rows::Grow(1),
    ),
    case(
        "oltp_insert",
        &[("key-order", "random")],
        (0, 1, 0),
        Rows::Grow(1),
    ),
    case(
        "oltp_insert",
        &[("table-size", "0")],
        (0, 1, 0),
        Rows::Grow(1),
    ),
    Case {
        workload: "oltp_delete",
        options: &[],
        counts: None,
        rows: Rows::Shrink,
    },
    case("oltp_update_index", &[], (0, 1, 0), Rows::Same),
    case("oltp_update_non_index", &[], (0, 1, 0), Rows::Same),
    case(
        "oltp_update_non_index",
        &[("secondary", "on"), ("auto-inc", "off")],
        (0, 1, 0),
        Rows::Same,
    ),
    Case {
        workload: "bulk_insert",
        options: &[],
        counts: None,
        rows: Rows::Grow(1),
    },
    case("select_random_points", &[], (1, 0, 0), Rows::Same),
    case(
        "select_random_points",
        &[("random-points", "300")],
        (1, 0, 0),
        Rows::Same,
    ),
    case("select_random_ranges", &[], (1, 0, 0), Rows::Same),
    case(
        "select_random_ranges",
        &[("number-of-ranges", "3"), ("delta", "0")],
        (1, 0, 0),
        Rows::Same,
    ),
    case("oltp_insert_batch", &[], (0, 1, 0), Rows::Grow(10)),
    case(
        "oltp_insert_batch",
        &[("auto-inc", "off"), ("batch-size", "3")],
        (0, 1, 0),
        Rows::Grow(3),
    ),
    case("oltp_upsert_batch", &[], (0, 1, 0), Rows::Same),
    case(
        "oltp_upsert_batch",
        &[("batch-size", "300"), ("rand-type", "pareto")],
        (0, 1, 0),
        Rows::Same,
    ),
    Case {
        workload: "tpcc",
        options: &[],
        counts: None,
        rows: Rows::Conditions,
    },
    Case {
        workload: "tpcc",
        options: &[
            ("statements", "single"),
            ("delivery", "deferred"),
            ("weight", "50,30,5,10,5"),
        ],
        counts: None,
        rows: Rows::Conditions,
    },
    Case {
        workload: "tpch",
        options: &[],
        counts: None,
        rows: Rows::NoTransactions,
    },
    case("ycsb", YCSB_READ, (1, 0, 0), Rows::Same),
    case(
        "ycsb",
        &[
            ("readproportion", "1"),
            ("updateproportion", "0"),
            ("readallfields", "false"),
            ("dataintegrity", "true"),
            ("requestdistribution", "zipfian"),
            ("insertorder", "ordered"),
            ("zeropadding", "10"),
            ("table", "MyTable_1"),
        ],
        (1, 0, 0),
        Rows::Same,
    ),
    case(
        "ycsb",
        &[
            ("readproportion", "0"),
            ("updateproportion", "1"),
            ("requestdistribution", "hotspot"),
            ("fieldlengthdistribution", "uniform"),
        ],
        (0, 1, 0),
        Rows::Same,
    ),
    case(
        "ycsb",
        &[
            ("readproportion", "0"),
            ("updateproportion", "1"),
            ("writeallfields", "true"),
            ("requestdistribution", "sequential"),
        ],
        (0, 1, 0),
        Rows::Same,
    ),
    case(
        "ycsb",
        &[
            ("readproportion", "0"),
            ("updateproportion", "0"),
            ("insertproportion", "1"),
            ("force-index", "off"),
        ],
        (0, 1, 0),
        Rows::Grow(1),
    ),
    case(
        "ycsb",
        &[
            ("readproportion", "0"),
            ("updateproportion", "0"),
            ("scanproportion", "1"),
            ("maxscanlength", "30"),
            ("scanlengthdistribution", "zipfian"),
            ("dataintegrity", "true"),
            ("requestdistribution", "latest"),
        ],
        (1, 0, 0),
        Rows::Same,
    ),
    case(
        "ycsb",
        &[
            ("readproportion", "0"),
            ("updateproportion", "0"),
            ("readmodifywriteproportion", "1"),
            ("requestdistribution", "exponential"),
            ("fieldcount", "1"),
            ("insertstart", "100"),
        ],
        (1, 1, 0),
        Rows::Same,
    ),
    case(
        "pgbench",
        &[("foreign-keys", "on")],
        (1, 4, 2),
        Rows::Grow(1),
    ),
    case(
        "pgbench",
        &[("scripts", r#"[{"builtin":"select-only"}]"#)],
        (1, 0, 0),
        Rows::Same,
    ),
];
