//! TPC-H's rows beside dbgen's: those that its documents show, and those of `tpchgen`, which is tested
//! byte by byte against dbgen's files.

use proptest::prelude::*;
use std::sync::{Arc, LazyLock};
use tidemark_core::{Engine, OptionValues, Source};
use tidemark_drivers::{Dialect, RowWriter};
use tidemark_workloads::Workload;
use tidemark_workloads::tpch::{OPTIONS, Table, Tpch};
use tpchgen::generators::{
    CustomerGenerator, LineItemGenerator, NationGenerator, OrderGenerator, PartGenerator,
    PartSuppGenerator, RegionGenerator, SupplierGenerator,
};

const SEED: u64 = 1;

fn tpch(scale: &str) -> Arc<dyn Workload> {
    let mut values = OptionValues::defaults([OPTIONS]);
    values.set("sf", scale, Source::CommandLine).unwrap();
    Arc::new(Tpch::new(&values).unwrap())
}

/// As dbgen's files have them.
fn lines(workload: &dyn Workload, table: usize, first: u64, count: u64) -> Vec<String> {
    let mut rows = workload.rows(table, first, count, SEED);
    let (mut lines, mut line) = (Vec::new(), Vec::new());
    while rows.next_row(&mut RowWriter::tsv(&mut line)) {
        let text = String::from_utf8(std::mem::take(&mut line)).unwrap();
        lines.push(text.replace('\t', "|") + "|");
    }
    lines
}

fn number(table: Table) -> usize {
    Table::ALL.iter().position(|t| *t == table).unwrap()
}

/// The first rows at scale factor 1, from the documents of dbgen's ports.
#[test]
fn first_rows_are_dbgens() {
    let one = tpch("1");
    for (table, first) in [
        (
            Table::LineItem,
            "1|155190|7706|1|17|21168.23|0.04|0.02|N|O|1996-03-13|1996-02-12|1996-03-22|\
             DELIVER IN PERSON|TRUCK|egular courts above the|",
        ),
        (
            Table::Orders,
            "1|36901|O|173665.47|1996-01-02|5-LOW|Clerk#000000951|0|\
             nstructions sleep furiously among |",
        ),
        (
            Table::Part,
            "1|goldenrod lavender spring chocolate lace|Manufacturer#1|Brand#13|\
             PROMO BURNISHED COPPER|7|JUMBO PKG|901.00|ly. slyly ironi|",
        ),
        (
            Table::Customer,
            "1|Customer#000000001|IVhzIApeRb ot,c,E|15|25-989-741-2988|711.56|BUILDING|\
             to the even, regular platelets. regular, ironic epitaphs nag e|",
        ),
        (
            Table::Supplier,
            "1|Supplier#000000001| N kD4on9OM Ipw3,gf0JBoQDd7tgrzrddZ|17|27-918-335-1736|5755.94|\
             each slyly above the careful|",
        ),
    ] {
        assert_eq!(lines(&*one, number(table), 0, 1)[0], first, "{table:?}");
    }
}

/// Everything at the smallest scale, in one piece.
static SMALL: LazyLock<Vec<Vec<String>>> = LazyLock::new(|| {
    let small = tpch("0.01");
    let whole = |(at, table): (usize, Table)| lines(&*small, at, 0, table.units(0.01));
    Table::ALL.into_iter().enumerate().map(whole).collect()
});

#[test]
fn every_row_is_tpchgens() {
    fn shown<T: ToString>(rows: impl IntoIterator<Item = T>) -> Vec<String> {
        rows.into_iter().map(|row| row.to_string()).collect()
    }
    let scale = 0.01;
    for (table, theirs) in [
        (Table::Region, shown(RegionGenerator::new(scale, 1, 1))),
        (Table::Nation, shown(NationGenerator::new(scale, 1, 1))),
        (Table::Part, shown(PartGenerator::new(scale, 1, 1))),
        (Table::Supplier, shown(SupplierGenerator::new(scale, 1, 1))),
        (Table::PartSupp, shown(PartSuppGenerator::new(scale, 1, 1))),
        (Table::Customer, shown(CustomerGenerator::new(scale, 1, 1))),
        (Table::Orders, shown(OrderGenerator::new(scale, 1, 1))),
        (Table::LineItem, shown(LineItemGenerator::new(scale, 1, 1))),
    ] {
        let ours = &SMALL[number(table)];
        assert_eq!(ours.len(), theirs.len(), "{table:?}");
        for (ours, theirs) in ours.iter().zip(&theirs) {
            assert_eq!(ours, theirs, "{table:?}");
        }
    }
}

/// Ten in ten thousand suppliers complain or recommend (clause 4.2.3): at a scale that has some.
#[test]
fn complaints_are_written_over_comments() {
    let one = tpch("1");
    let ours = lines(&*one, number(Table::Supplier), 0, 10_000);
    let theirs: Vec<String> = SupplierGenerator::new(1.0, 1, 1)
        .into_iter()
        .map(|s| s.to_string())
        .collect();
    assert!(ours == theirs);
    let with = |word: &str| ours.iter().filter(|line| line.contains(word)).count();
    assert_eq!(with("Complaints") + with("Recommends"), with("Customer "));
    assert!(with("Complaints") > 0 && with("Recommends") > 0);
}

/// Clause 4.2.5.1; what dbgen makes of lineitem.
#[test]
fn tables_have_the_specified_rows() {
    let rows = |scale: &str| {
        let (workload, factor) = (tpch(scale), scale.parse().unwrap());
        let count =
            |(at, table): (usize, Table)| workload.row_count(at, 0, table.units(factor), SEED);
        Table::ALL
            .into_iter()
            .enumerate()
            .map(count)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        rows("1"),
        [
            5, 25, 200_000, 10_000, 800_000, 150_000, 1_500_000, 6_001_215
        ]
    );
    assert_eq!(
        rows("0.1"),
        [5, 25, 20_000, 1_000, 80_000, 15_000, 150_000, 600_572]
    );
    assert_eq!(
        rows("0.01"),
        [5, 25, 2_000, 100, 8_000, 1_500, 15_000, 60_175]
    );
}

/// Keys of the four that `partsupp` has of each part differ, and lines refer to one of them.
#[test]
fn keys_are_unique_and_lines_refer_to_a_supplier_of_their_part() {
    let keys = |table: Table, columns: [usize; 2]| -> Vec<(u64, u64)> {
        let key = |line: &String| {
            let fields: Vec<&str> = line.split('|').collect();
            let [a, b] = columns.map(|c| fields[c].parse().unwrap());
            (a, b)
        };
        SMALL[number(table)].iter().map(key).collect()
    };
    let supplied = keys(Table::PartSupp, [0, 1]);
    let distinct: std::collections::HashSet<_> = supplied.iter().collect();
    assert_eq!(distinct.len(), supplied.len());
    assert!(
        keys(Table::LineItem, [1, 2])
            .iter()
            .all(|key| distinct.contains(key))
    );
    let lines = keys(Table::LineItem, [0, 3]);
    assert!(lines.windows(2).all(|pair| pair[0] < pair[1]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A load cuts tables anywhere.
    #[test]
    fn any_range_is_a_piece_of_the_whole(
        table in 0..Table::ALL.len(), at in 0.0..1.0f64, length in 0u64..3_000,
    ) {
        let small = tpch("0.01");
        let units = Table::ALL[table].units(0.01);
        let first = (units as f64 * at) as u64;
        let before = small.row_count(table, 0, first, SEED) as usize;
        let here = lines(&*small, table, first, length);
        prop_assert_eq!(here.len() as u64, small.row_count(table, first, length, SEED));
        prop_assert_eq!(&here[..], &SMALL[table][before..before + here.len()]);
        let expected = length.min(units - first);
        prop_assert!(here.len() as u64 >= expected);
    }
}

/// What every engine is told to make.
#[test]
fn tables_are_made_in_every_dialect() {
    for engine in Engine::ALL {
        let plans = tpch("1").tables(&Dialect::new(engine), 1).unwrap();
        let later = Dialect::new(engine).adds_primary_key_later();
        for plan in &plans {
            let all = [plan.create.join("\n"), plan.indexes.join("\n")];
            let place = usize::from(later);
            assert!(all[place].contains("PRIMARY KEY ("), "{engine}: {all:?}");
            assert!(
                !all[1 - place].contains("PRIMARY KEY ("),
                "{engine}: {all:?}"
            );
            assert!(plan.after_all.is_empty());
        }
        let indexes = plans.iter().flat_map(|p| &p.indexes);
        assert_eq!(
            indexes
                .filter(|sql| sql.starts_with("CREATE INDEX"))
                .count(),
            5
        );
    }
}
