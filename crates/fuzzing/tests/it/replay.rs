//! Plays every file of the corpora, and changed ones, without cargo-fuzz.

use super::seeds;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};
use tidemark_fuzzing::TARGETS;

/// No input may take longer.
const LONGEST: Duration = Duration::from_secs(20);
/// For how long changed inputs are tried, each target.
const CHANGED: Duration = Duration::from_millis(1500);
/// How many are tried at least, on a busy machine.
const FEWEST: u32 = 20;

fn corpus(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = seeds::folder(target);
    let files = std::fs::read_dir(&folder)
        .unwrap_or_else(|e| panic!("{}: {e}", folder.display()))
        .map(|file| file.unwrap().path());
    let mut files: Vec<_> = files
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read(path).unwrap())
        })
        .collect();
    files.sort();
    assert!(!files.is_empty(), "{target} has no corpus");
    files
}

#[test]
fn every_file_of_the_corpora_keeps_the_promises() {
    for target in TARGETS {
        for (name, data) in corpus(target.name) {
            let begun = Instant::now();
            let kept = catch_unwind(AssertUnwindSafe(|| (target.run)(&data)));
            assert!(kept.is_ok(), "fuzz/corpus/{}/{name}", target.name);
            assert!(
                begun.elapsed() < LONGEST,
                "{}/{name} takes long",
                target.name
            );
        }
    }
}

#[test]
fn every_fuzz_target_has_its_program_and_its_corpus() {
    let names: BTreeSet<_> = TARGETS.iter().map(|t| format!("{}.rs", t.name)).collect();
    let folder = seeds::folder("..").join("../fuzz/fuzz_targets");
    let programs: BTreeSet<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(names, programs);
}

/// One change to an input.
#[derive(Debug, Clone)]
enum Change {
    Set(usize, u8),
    Flip(usize, u8),
    Insert(usize, Vec<u8>),
    Remove(usize, usize),
    /// Goes on with another file from there.
    Splice(usize, usize, usize),
}

fn change() -> impl Strategy<Value = Change> {
    let at = any::<prop::sample::Index>().prop_map(|i| i.index(1 << 20));
    let bytes = prop_oneof![
        prop::collection::vec(any::<u8>(), 1..8),
        Just(b"\xF8CUT".to_vec()),
        Just(b"\xF8PKT".to_vec()),
        Just(vec![0xFF; 8]),
    ];
    prop_oneof![
        (at.clone(), any::<u8>()).prop_map(|(at, byte)| Change::Set(at, byte)),
        (at.clone(), 0u8..8).prop_map(|(at, bit)| Change::Flip(at, bit)),
        (at.clone(), bytes).prop_map(|(at, bytes)| Change::Insert(at, bytes)),
        (at.clone(), 1usize..64).prop_map(|(at, n)| Change::Remove(at, n)),
        (at.clone(), any::<usize>(), at).prop_map(|(at, n, from)| Change::Splice(at, n, from)),
    ]
}

fn changed(files: &[(String, Vec<u8>)], which: usize, changes: &[Change]) -> Vec<u8> {
    let mut data = files[which % files.len()].1.clone();
    for change in changes {
        let at = |at: &usize| at % (data.len() + 1);
        match change {
            Change::Set(place, byte) if at(place) < data.len() => {
                let place = at(place);
                data[place] = *byte;
            }
            Change::Flip(place, bit) if at(place) < data.len() => {
                let place = at(place);
                data[place] ^= 1 << bit;
            }
            Change::Insert(place, bytes) => {
                let place = at(place);
                data.splice(place..place, bytes.iter().copied());
            }
            Change::Remove(place, n) => {
                let place = at(place);
                data.drain(place..(place + n).min(data.len()));
            }
            Change::Splice(place, n, from) => {
                let place = at(place);
                let other = &files[n % files.len()].1;
                data.truncate(place);
                data.extend_from_slice(&other[from % (other.len() + 1)..]);
            }
            _ => {}
        }
    }
    data
}

#[test]
fn changed_files_keep_the_promises() {
    for target in TARGETS {
        let files = corpus(target.name);
        let strategy = (any::<usize>(), prop::collection::vec(change(), 1..6))
            .prop_map(|(which, changes)| changed(&files, which, &changes));
        let mut runner = TestRunner::new(ProptestConfig {
            // The time is the limit.
            cases: u32::MAX,
            failure_persistence: None,
            ..ProptestConfig::default()
        });
        let begun = Instant::now();
        let mut tried = 0;
        while begun.elapsed() < CHANGED || tried < FEWEST {
            let tree = strategy.new_tree(&mut runner).unwrap();
            let data = tree.current();
            let one = Instant::now();
            let kept = catch_unwind(AssertUnwindSafe(|| (target.run)(&data)));
            assert!(
                kept.is_ok(),
                "{}: {:?}",
                target.name,
                data.escape_ascii().to_string()
            );
            assert!(
                one.elapsed() < LONGEST,
                "{}: {:?}",
                target.name,
                data.escape_ascii().to_string()
            );
            tried += 1;
        }
    }
}
