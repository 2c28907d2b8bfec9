//! No load drops a row that Tidemark did not make or that its owner did not give away: random
//! sequences of loads by hand and by studies, interruptions, kills, refusals, runs, and what others do
//! to the tables, on three engines, with a model of which rows are somebody else's.
//!
//! `TIDEMARK_OWNERSHIP=sqlite=1000,mariadb=100` plays so many (`bench/ownership`), and
//! `TIDEMARK_OWNERSHIP_SEED` begins with another sequence; a sequence's number makes it again.
//! With `TIDEMARK_OWNERSHIP_STORY` each sequence is told, not only one that fails.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod loads;
mod model;
mod place;
mod resumed;
mod sequence;

use place::{Engine, Place};
use std::process::ExitCode;
use std::time::Instant;

/// How many sequences the test suite plays.
const OF_SUITE: [(Engine, u64); 3] = [
    (Engine::Sqlite, 120),
    (Engine::Mariadb, 10),
    (Engine::Postgres, 10),
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().is_some_and(|word| word == loads::CHILD) {
        loads::be_killed(&words[1..]);
        return ExitCode::SUCCESS;
    }
    if words.iter().any(|word| word == "--list") {
        println!("foreign_rows_are_never_lost: test");
        return ExitCode::SUCCESS;
    }
    let first: u64 = match std::env::var("TIDEMARK_OWNERSHIP_SEED") {
        Ok(seed) => seed.parse().unwrap(),
        Err(_) => 1,
    };
    let threads: Vec<_> = asked()
        .into_iter()
        .map(|(engine, sequences)| std::thread::spawn(move || played(engine, first, sequences)))
        .collect();
    let mut all_well = true;
    for thread in threads {
        all_well &= thread.join().unwrap_or(false);
    }
    match all_well {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

/// How many sequences are to be played on which engines.
fn asked() -> Vec<(Engine, u64)> {
    let Ok(said) = std::env::var("TIDEMARK_OWNERSHIP") else {
        return OF_SUITE.to_vec();
    };
    let parts = said.split(',').map(|part| {
        let (name, count) = part.split_once('=').expect("as sqlite=100,mariadb=10");
        let is_meant = |engine: &&Engine| engine.name().eq_ignore_ascii_case(name);
        let engine = Engine::ALL.iter().find(is_meant);
        let engine = engine.expect("sqlite, mariadb or postgresql");
        (*engine, count.parse().expect("a number of sequences"))
    });
    parts.collect()
}

/// Plays sequences; whether no row was lost and no study was refused its own tables.
fn played(engine: Engine, first: u64, sequences: u64) -> bool {
    let begun = Instant::now();
    let place = Place::new(engine);
    let resumed = resumed::a_row_that_was_changed_in_between_is_kept(&place);
    let (mut lost, mut alarms, mut loads) = (0, 0, 0);
    for seed in first..first + sequences {
        let came = sequence::play(&place, seed);
        loads += came.loads;
        lost += came.lost.len();
        alarms += came.false_alarms.len();
        let is_told = std::env::var_os("TIDEMARK_OWNERSHIP_STORY").is_some();
        if is_told || !came.lost.is_empty() || !came.false_alarms.is_empty() {
            println!(
                "sequence {seed} on {}: lost {:?}, refused {:?}\n{}",
                engine.name(),
                came.lost,
                came.false_alarms,
                came.story
            );
        }
    }
    println!(
        "{sequences} sequences on {}: foreign rows lost: {lost} ({loads} loads ended well; a study's \
         own tables refused: {alarms}; {:.0} s)",
        engine.name(),
        begun.elapsed().as_secs_f64()
    );
    // Of sequences in which nothing is ever loaded none could lose a row.
    resumed && lost == 0 && alarms == 0 && loads >= sequences
}
