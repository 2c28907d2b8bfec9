//! YCSB's properties that say what the table is and what is done with it, under YCSB's and
//! go-ycsb's own names and with their defaults.

use tidemark_core::{OptionKind, OptionSpec, option};

/// Most records: their numbers stay whole in a float.
const MOST_RECORDS: i64 = 1_000_000_000_000;
/// Most fields: fewer than any engine's columns.
pub(super) const MOST_FIELDS: i64 = 1_000;
/// Longest field: MySQL's rows and VARCHARs end there.
const LONGEST_FIELD: i64 = 65_535;

const RECORDS: OptionKind = OptionKind::Int {
    min: 0,
    max: MOST_RECORDS,
};
const SHARE: OptionKind = OptionKind::Float { min: 0.0, max: 1.0 };

/// Everything that can be set about YCSB's core workload.
pub const OPTIONS: &[OptionSpec] = &[
    option("table", OptionKind::Text, "usertable", "Name of the table"),
    option(
        "recordcount",
        RECORDS,
        "0",
        "Records in the table before a run inserts more",
    ),
    option(
        "operationcount",
        RECORDS,
        "0",
        "Operations of a run; 0 = no limit",
    ),
    option(
        "insertstart",
        RECORDS,
        "0",
        "First record to load, or to use in a run",
    ),
    option(
        "insertcount",
        RECORDS,
        "0",
        "Records from there on; 0 = up to recordcount",
    ),
    option(
        "fieldcount",
        OptionKind::Int {
            min: 1,
            max: MOST_FIELDS,
        },
        "10",
        "Fields of a record",
    ),
    option(
        "fieldlength",
        OptionKind::Int {
            min: 1,
            max: LONGEST_FIELD,
        },
        "100",
        "Length of a field; the maximum if lengths vary",
    ),
    option(
        "fieldlengthdistribution",
        OptionKind::Choice(&["constant", "uniform", "zipfian", "histogram"]),
        "constant",
        "Distribution of field lengths: constant, from 1 to fieldlength, or from a file",
    ),
    option(
        "fieldlengthhistogram",
        OptionKind::Text,
        "hist.txt",
        "File of lengths for fieldlengthdistribution=histogram",
    ),
    option(
        "readallfields",
        OptionKind::Bool,
        "on",
        "Read all fields of a record, or one",
    ),
    option(
        "writeallfields",
        OptionKind::Bool,
        "off",
        "Update all fields of a record, or one",
    ),
    option(
        "dataintegrity",
        OptionKind::Bool,
        "off",
        "Write values derived from the key, and verify every value that is read",
    ),
    option("readproportion", SHARE, "0.95", "Share of READ"),
    option("updateproportion", SHARE, "0.05", "Share of UPDATE"),
    option("insertproportion", SHARE, "0.0", "Share of INSERT"),
    option("scanproportion", SHARE, "0.0", "Share of SCAN"),
    option(
        "readmodifywriteproportion",
        SHARE,
        "0.0",
        "Share of READ_MODIFY_WRITE",
    ),
    option(
        "requestdistribution",
        OptionKind::Choice(&[
            "uniform",
            "zipfian",
            "latest",
            "sequential",
            "hotspot",
            "exponential",
        ]),
        "uniform",
        "Distribution of requested records",
    ),
    option(
        "hotspotdatafraction",
        SHARE,
        "0.2",
        "Share of the records that are hot, with requestdistribution=hotspot",
    ),
    option(
        "hotspotopnfraction",
        SHARE,
        "0.8",
        "Share of the operations that choose a hot record",
    ),
    option(
        "exponential.percentile",
        OptionKind::Float {
            min: 0.001,
            max: 99.999_999,
        },
        "95",
        "Percent of the operations that choose among the newest exponential.frac of the records",
    ),
    option(
        "exponential.frac",
        OptionKind::Float {
            min: 0.000_001,
            max: 1.0,
        },
        "0.8571428571",
        "Share of the newest records, with requestdistribution=exponential",
    ),
    option(
        "maxscanlength",
        OptionKind::Int {
            min: 1,
            max: 1_000_000,
        },
        "1000",
        "Maximum records of a SCAN",
    ),
    option(
        "minscanlength",
        OptionKind::Int {
            min: 1,
            max: 1_000_000,
        },
        "1",
        "Minimum records of a SCAN",
    ),
    option(
        "scanlengthdistribution",
        OptionKind::Choice(&["uniform", "zipfian"]),
        "uniform",
        "Distribution of SCAN lengths",
    ),
    option(
        "insertorder",
        OptionKind::Choice(&["hashed", "ordered"]),
        "hashed",
        "Keys from the hash of a record's number, or in order",
    ),
    option(
        "zeropadding",
        OptionKind::Int { min: 0, max: 60 },
        "1",
        "Minimum digits of a key, padded with zeros",
    ),
    option("keyprefix", OptionKind::Text, "user", "Prefix of keys"),
    option(
        "force-index",
        OptionKind::Bool,
        "on",
        "Force the primary key in reads where the engine allows it (mysql.force_index)",
    ),
    option(
        "cluster-index",
        OptionKind::Bool,
        "on",
        "Request a clustered key where the engine has both kinds (tidb.cluster_index)",
    ),
    option(
        "disjoint-keys",
        OptionKind::Bool,
        "off",
        "Let each client thread choose only records that no other thread chooses",
    ),
];
