//! No load drops a row that Tidemark did not make or that its owner did not give away: random
//! sequences of loads by hand and by studies, interruptions, kills, refusals, runs, and what others do
//! to the tables, on three engines, with a model of which rows are somebody else's.
//!
//! `TIDEMARK_OWNERSHIP=sqlite=1000,mariadb=100` plays so many (`bench/ownership`), and
//! `TIDEMARK_OWNERSHIP_SEED` begins with another sequence; a sequence's number makes it again.
//! With `TIDEMARK_OWNERSHIP_STORY` each sequence is told, not only one that fails.

mod joined;
mod loads;
mod model;
mod place;
mod resumed;
mod sequence;

use place::{Engine, Place};
use std::time::Instant;

#[test]
fn foreign_rows_are_never_lost_on_sqlite() {
    played(Engine::Sqlite, 120);
}

#[test]
fn foreign_rows_are_never_lost_on_mariadb() {
    played(Engine::Mariadb, 10);
}

#[test]
fn foreign_rows_are_never_lost_on_postgres() {
    played(Engine::Postgres, 10);
}

#[test]
fn a_row_that_was_changed_before_a_load_went_on_is_kept_on_sqlite() {
    resumed::play(&Place::new(Engine::Sqlite));
}

#[test]
fn a_row_that_was_changed_before_a_load_went_on_is_kept_on_mariadb() {
    resumed::play(&Place::new(Engine::Mariadb));
}

#[test]
fn a_row_that_was_changed_before_a_load_went_on_is_kept_on_postgres() {
    resumed::play(&Place::new(Engine::Postgres));
}

#[test]
fn what_several_made_is_no_studys_on_mariadb() {
    joined::play(&Place::new(Engine::Mariadb));
}

#[test]
fn what_several_made_is_no_studys_on_postgres() {
    joined::play(&Place::new(Engine::Postgres));
}

/// A load in a process of its own ([`loads::Load::killed`]), which may never end.
#[test]
fn a_load_until_it_is_killed() {
    loads::be_killed();
}

/// How many sequences are to be played on an engine, where the suite plays `of_suite`.
fn asked(engine: Engine, of_suite: u64) -> u64 {
    let Ok(said) = std::env::var("TIDEMARK_OWNERSHIP") else {
        return of_suite;
    };
    let counts = said.split(',').map(|part| {
        let (name, count) = part.split_once('=').expect("as sqlite=100,mariadb=10");
        let is_known = |known: &Engine| known.name().eq_ignore_ascii_case(name);
        assert!(Engine::ALL.iter().any(is_known), "no engine: {name}");
        let count: u64 = count.parse().expect("a number of sequences");
        if name.eq_ignore_ascii_case(engine.name()) {
            count
        } else {
            0
        }
    });
    counts.sum()
}

/// Plays sequences: no row is lost, and no study is refused its own tables.
fn played(engine: Engine, of_suite: u64) {
    let sequences = asked(engine, of_suite);
    let first: u64 = match std::env::var("TIDEMARK_OWNERSHIP_SEED") {
        Ok(seed) => seed.parse().unwrap(),
        Err(_) => 1,
    };
    let begun = Instant::now();
    let place = Place::new(engine);
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
    assert_eq!((lost, alarms), (0, 0));
    // Of sequences in which nothing is ever loaded none could lose a row.
    assert!(loads >= sequences);
}
