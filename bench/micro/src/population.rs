//! How fast one thread makes the rows of TPC-C, table by table: as COPY and LOAD DATA take them, and
//! as files of comma-separated values.

use clap::Parser;
use std::error::Error;
use std::hint::black_box;
use std::time::Instant;
use tidemark_core::{OptionValues, Source};
use tidemark_drivers::RowWriter;
use tidemark_workloads::Workload;
use tidemark_workloads::tpcc::{OPTIONS, Table, Tpcc};

/// Prints rows and bytes a second for each table of TPC-C, made by one thread: the best of several
/// runs.
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    /// Warehouses whose rows are made in each run.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..))]
    warehouses: u64,
    /// Runs to take the best of.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// A fraction of a second in all; the figures mean nothing.
    #[arg(long)]
    smoke: bool,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = Args::parse();
    if args.smoke {
        (args.warehouses, args.runs) = (1, 1);
        println!("smoke: figures mean nothing");
    }
    let mut values = OptionValues::defaults([OPTIONS]);
    let warehouses = args.warehouses.to_string();
    values.set("warehouses", &warehouses, Source::CommandLine)?;
    let workload = Tpcc::new(&values)?;
    println!("table        rows       text rows/s  MB/s   csv rows/s   MB/s");
    for (index, table) in Table::ALL.into_iter().enumerate() {
        let units = match args.smoke {
            true => table.units(args.warehouses).min(1_000),
            false => table.units(args.warehouses),
        };
        let text = best(args.runs, || {
            made(&workload, index, units, |out| RowWriter::tsv(out))
        });
        let csv = best(args.runs, || {
            made(&workload, index, units, |out| RowWriter::csv(out))
        });
        println!(
            "{:<11}  {:<9}  {:>11.0}  {:>4.0}  {:>11.0}  {:>4.0}",
            table.name(),
            text.rows,
            text.rows as f64 / text.seconds,
            text.bytes as f64 / text.seconds / 1e6,
            csv.rows as f64 / csv.seconds,
            csv.bytes as f64 / csv.seconds / 1e6,
        );
    }
    Ok(())
}

#[derive(Clone, Copy)]
struct Made {
    rows: u64,
    bytes: u64,
    seconds: f64,
}

fn best(runs: u32, make: impl Fn() -> (u64, u64)) -> Made {
    let mut best: Option<Made> = None;
    for _ in 0..runs {
        let begun = Instant::now();
        let (rows, bytes) = make();
        let seconds = begun.elapsed().as_secs_f64().max(1e-9);
        if best.is_none_or(|b| seconds < b.seconds) {
            best = Some(Made {
                rows,
                bytes,
                seconds,
            });
        }
    }
    best.unwrap_or(Made {
        rows: 0,
        bytes: 0,
        seconds: 1.0,
    })
}

/// Rows and bytes of the first units of a table.
fn made(
    workload: &Tpcc,
    table: usize,
    units: u64,
    writer: fn(&mut Vec<u8>) -> RowWriter<'_>,
) -> (u64, u64) {
    let mut source = workload.rows(table, 0, units, 42);
    let mut buffer = Vec::with_capacity(1 << 20);
    let (mut rows, mut bytes) = (0, 0);
    while source.next_row(&mut writer(&mut buffer)) {
        rows += 1;
        if buffer.len() > 512 * 1024 {
            bytes += buffer.len() as u64;
            black_box(&buffer);
            buffer.clear();
        }
    }
    (rows, bytes + buffer.len() as u64)
}
