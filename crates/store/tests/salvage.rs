//! Damaged stores: what is said of them, and what comes back.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a test fails by panicking

mod common;

use common::{interval, record};
use rusqlite::Connection;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use tidemark_core::record::{RunRecord, RunState};
use tidemark_store::{
    ChangedSetting, Filter, NewStep, NewStudy, Salvaged, Store, StoreError, salvage,
};

const PAGE: usize = 4096;
const RUNS: usize = 8;

/// Numbers that are the same in every run of the test.
struct Dice(u64);

impl Dice {
    /// xorshift64 (Marsaglia 2003).
    fn roll(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % below
    }
}

struct Whole {
    dir: tempfile::TempDir,
    path: PathBuf,
    runs: BTreeMap<String, RunRecord>,
    /// The pages that each run's rows are on.
    pages_of: BTreeMap<String, BTreeSet<usize>>,
    bytes: Vec<u8>,
}

/// In memory where there is such a folder: hundreds of files are made, each forced to disk.
fn folder() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    let made = match memory.is_dir() {
        true => tempfile::tempdir_in(memory),
        false => tempfile::tempdir(),
    };
    made.unwrap()
}

fn id(n: usize) -> String {
    format!("01932b7e-53a0-7c11-8a70-0c1d2e3f4a{n:02x}")
}

/// A store of several runs with tags and notes of their own.
fn whole() -> Whole {
    let dir = folder();
    let path = dir.path().join("runs.db");
    let mut store = Store::open(&path).unwrap();
    let mut runs = BTreeMap::new();
    for n in 0..RUNS {
        let mut run = record(&id(n), RunState::Finished);
        run.intervals = (-1..4 + 3 * n as i64).map(interval).collect();
        run.note = format!("note {n}");
        store.import(&run).unwrap();
        store.tag(&[id(n)], &[format!("tag{n}")], &[]).unwrap();
        runs.insert(id(n), store.get(&id(n)).unwrap());
    }
    drop(store);
    let bytes = fs::read(&path).unwrap();
    let pages_of = pages_of(&path, &bytes, runs.keys());
    Whole {
        dir,
        path,
        runs,
        pages_of,
        bytes,
    }
}

/// Where rows are, as SQLite's own table of pages (dbstat) and the ids in the bytes tell: a page of a
/// table that holds the id, and the overflow pages of such a page. Other pages hold nothing of a run.
fn pages_of<'a>(
    path: &Path,
    bytes: &[u8],
    ids: impl Iterator<Item = &'a String>,
) -> BTreeMap<String, BTreeSet<usize>> {
    let db = Connection::open(path).unwrap();
    let mut pages: Vec<(String, usize, String)> = Vec::new();
    let mut query = db
        .prepare(
            "SELECT name || ':' || path, pageno, pagetype FROM dbstat \
             WHERE name IN ('run', 'interval', 'tag')",
        )
        .unwrap();
    let mut rows = query.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        pages.push((
            row.get(0).unwrap(),
            row.get::<_, i64>(1).unwrap() as usize,
            row.get(2).unwrap(),
        ));
    }
    assert!(pages.iter().any(|(_, _, kind)| kind == "overflow"));
    assert!(pages.iter().any(|(_, _, kind)| kind == "internal"));
    let holds = |page: usize, id: &str| {
        let page = &bytes[(page - 1) * PAGE..page * PAGE];
        page.windows(id.len()).any(|w| w == id.as_bytes())
    };
    ids.map(|id| {
        let own = pages
            .iter()
            .filter(|(_, page, kind)| kind != "overflow" && holds(*page, id));
        let mut of_id = BTreeSet::new();
        for (path, page, _) in own {
            of_id.insert(*page);
            // "/1c2/000+000001": of the first cell of the page at "/1c2/".
            let beyond = pages.iter().filter(|(p, _, kind)| {
                kind == "overflow"
                    && p.rsplit_once('/')
                        .is_some_and(|(of, _)| format!("{of}/") == *path)
            });
            of_id.extend(beyond.map(|(_, page, _)| *page));
        }
        (id.clone(), of_id)
    })
    .collect()
}

impl Whole {
    fn pages(&self) -> usize {
        self.bytes.len() / PAGE
    }

    /// Salvages the store with these bytes; what came of it, and the new store.
    fn salvaged(&self, bytes: &[u8], name: &str) -> (Salvaged, Store) {
        let damaged = self.dir.path().join(format!("{name}.damaged.db"));
        let new = self.dir.path().join(format!("{name}.new.db"));
        fs::write(&damaged, bytes).unwrap();
        let salvaged = salvage(&damaged, &new, &mut |_, _| {}).unwrap();
        assert_eq!(fs::read(&damaged).unwrap(), bytes, "{name}: it was changed");
        let beside = fs::read_dir(self.dir.path()).unwrap().flatten();
        let names: Vec<_> = beside
            .map(|e| e.file_name().into_string().unwrap())
            .collect();
        assert!(
            !names
                .iter()
                .any(|n| n.starts_with(&format!("{name}.damaged.db-"))),
            "{names:?}"
        );
        let store = Store::open_existing(&new).unwrap();
        let health = store.check(&mut |_, _| {}).unwrap();
        assert!(health.problems.is_empty(), "{name}: {health:?}");
        assert_eq!(health.runs, salvaged.runs.len() as u64, "{name}");
        (salvaged, store)
    }

    /// Looks that runs none of whose pages was damaged are as they were. Whether any was lost.
    fn compare(&self, damaged: &BTreeSet<usize>, name: &str, store: &Store) -> usize {
        let mut lost = 0;
        for (id, run) in &self.runs {
            let whole = self.pages_of[id].is_disjoint(damaged);
            match store.get(id) {
                Ok(found) if whole => assert_eq!(&found, run, "{name}: {id} with {damaged:?}"),
                Ok(_) => {}
                Err(e) if whole => panic!("{name}: {id} with {damaged:?}: {e}"),
                Err(_) => lost += 1,
            }
        }
        lost
    }

    /// What SQLite itself and the commands say of such bytes; never a panic.
    fn looked_at(&self, bytes: &[u8], name: &str) -> Result<(), StoreError> {
        let path = self.dir.path().join(format!("{name}.looked.db"));
        fs::write(&path, bytes).unwrap();
        let store = Store::open_existing(&path)?;
        let health = store.check(&mut |_, _| {})?;
        let _ = store.list(&Filter::default());
        for id in self.runs.keys() {
            let _ = store.get(id);
        }
        match health.problems.first() {
            Some(_) => Err(StoreError::Damaged {
                path,
                detail: health.problems.join("; "),
            }),
            None => Ok(()),
        }
    }
}

#[test]
fn an_undamaged_store_comes_back_whole() {
    let whole = whole();
    let (salvaged, store) = whole.salvaged(&whole.bytes, "undamaged");
    assert_eq!(whole.compare(&BTreeSet::new(), "undamaged", &store), 0);
    assert_eq!(salvaged.runs.len(), RUNS);
    assert_eq!((salvaged.broken_rows, salvaged.lost.len()), (0, 0));
    assert!(salvaged.runs.iter().all(|r| r.missing == 0));
    whole.looked_at(&whole.bytes, "undamaged").unwrap();
}

#[test]
fn runs_on_undamaged_pages_come_back_whichever_pages_are_damaged() {
    let whole = whole();
    let (mut lost, mut called_damaged) = (0, 0);
    for seed in 1..=50u64 {
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut bytes = whole.bytes.clone();
        let mut damaged = BTreeSet::new();
        for _ in 0..1 + dice.roll(4) {
            let page = 1 + dice.roll(whole.pages());
            damaged.insert(page);
            let range = (page - 1) * PAGE..page * PAGE;
            match dice.roll(3) {
                0 => bytes[range].fill_with(|| dice.roll(256) as u8),
                1 => bytes[range].fill(0),
                _ => {
                    let begin = dice.roll(PAGE - 1);
                    let end = (begin + 1 + dice.roll(200)).min(PAGE);
                    bytes[range][begin..end].fill_with(|| dice.roll(256) as u8);
                }
            }
        }
        let name = format!("seed{seed}");
        let (salvaged, store) = whole.salvaged(&bytes, &name);
        lost += whole.compare(&damaged, &name, &store);
        let told = salvaged.runs.len() + salvaged.lost.len();
        assert!(told <= RUNS, "{name}: {salvaged:?}");
        if let Err(error) = whole.looked_at(&bytes, &name) {
            called_damaged += 1;
            let text = error.to_string();
            assert!(
                text.contains("store salvage") || text.contains("not a Tidemark store"),
                "{text}"
            );
        }
    }
    // Otherwise nothing was tested.
    assert!(lost > 0 && called_damaged > 30, "{lost} {called_damaged}");
}

#[test]
fn what_is_on_a_destroyed_page_is_lost_and_nothing_is_made_up() {
    let whole = whole();
    for seed in 100..115u64 {
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let page = 1 + dice.roll(whole.pages());
        let mut bytes = whole.bytes.clone();
        bytes[(page - 1) * PAGE..page * PAGE].fill_with(|| dice.roll(256) as u8);
        let (salvaged, store) = whole.salvaged(&bytes, &format!("seed{seed}"));
        for saved in &salvaged.runs {
            let (found, run) = (store.get(&saved.id).unwrap(), &whole.runs[&saved.id]);
            assert_eq!(found.intervals.len() as u64, saved.intervals);
            assert!(found.intervals.iter().all(|i| run.intervals.contains(i)));
            // All but the last ones are known to be missing.
            assert!(saved.intervals + saved.missing <= run.intervals.len() as u64);
            assert!(found.tags.iter().all(|t| run.tags.contains(t)));
            assert_eq!((&found.totals, &found.note), (&run.totals, &run.note));
        }
    }
}

#[test]
fn without_its_first_page_a_store_comes_back() {
    let whole = whole();
    let mut bytes = whole.bytes.clone();
    bytes[..PAGE].fill(0xa5);
    let (_, store) = whole.salvaged(&bytes, "headless");
    assert_eq!(whole.compare(&BTreeSet::from([1]), "headless", &store), 0);
}

#[test]
fn a_store_cut_short_gives_back_what_is_left() {
    let whole = whole();
    for cut in [1, 3 * PAGE, whole.bytes.len() / 2, whole.bytes.len() - 100] {
        let name = format!("cut{cut}");
        let (_, store) = whole.salvaged(&whole.bytes[..cut], &name);
        let gone: BTreeSet<usize> = (cut / PAGE + 1..=whole.pages()).collect();
        whole.compare(&gone, &name, &store);
    }
}

#[test]
fn what_is_still_in_the_log_comes_back() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("runs.db");
    let mut store = Store::open(&path).unwrap();
    let mut run = record(&id(1), RunState::Finished);
    run.intervals = (0..30).map(interval).collect();
    store.import(&run).unwrap();
    // While it is open, its pages are in the log.
    let log = dir.path().join("runs.db-wal");
    assert!(fs::metadata(&log).unwrap().len() > 10 * PAGE as u64);
    let damaged = dir.path().join("damaged.db");
    fs::write(&damaged, vec![0xa5; PAGE]).unwrap();
    fs::copy(&log, dir.path().join("damaged.db-wal")).unwrap();
    let new = dir.path().join("new.db");
    salvage(&damaged, &new, &mut |_, _| {}).unwrap();
    let saved = Store::open_existing(&new).unwrap();
    assert_eq!(saved.get(&id(1)).unwrap(), run);
    // A log whose end is torn counts as far as its checksums hold.
    let mut bytes = fs::read(&log).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(dir.path().join("damaged.db-wal"), &bytes).unwrap();
    let torn = dir.path().join("torn.db");
    salvage(&damaged, &torn, &mut |_, _| {}).unwrap();
    let saved = Store::open_existing(&torn).unwrap();
    assert!(saved.list(&Filter::default()).unwrap().is_empty());
    drop(store);
}

#[test]
fn deleted_runs_stay_deleted() {
    let whole = whole();
    let db = Connection::open(&whole.path).unwrap();
    db.execute_batch("PRAGMA foreign_keys=ON; PRAGMA journal_mode=DELETE")
        .unwrap();
    // Its pages are free and still hold what they held.
    db.execute("DELETE FROM run WHERE id <> ?1", [id(3)])
        .unwrap();
    drop(db);
    let bytes = fs::read(&whole.path).unwrap();
    assert_eq!(bytes.len(), whole.bytes.len());
    let (salvaged, store) = whole.salvaged(&bytes, "deleted");
    let ids: Vec<_> = salvaged.runs.iter().map(|r| r.id.clone()).collect();
    assert_eq!((ids, salvaged.lost), (vec![id(3)], vec![]));
    assert_eq!(store.get(&id(3)).unwrap(), whole.runs[&id(3)]);
}

#[test]
fn stores_of_the_first_format_come_back_too() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("runs.db");
    let mut store = Store::open(&path).unwrap();
    store.import(&record(&id(1), RunState::Finished)).unwrap();
    drop(store);
    // As the first version made them: fewer columns, no tags, no studies.
    let db = Connection::open(&path).unwrap();
    db.execute_batch(
        "PRAGMA foreign_keys=OFF; PRAGMA journal_mode=DELETE; DROP INDEX run_by_study; \
         DROP TABLE tag; ALTER TABLE run DROP COLUMN study; ALTER TABLE run DROP COLUMN cell; \
         ALTER TABLE run DROP COLUMN repeat; ALTER TABLE run DROP COLUMN note",
    )
    .unwrap();
    drop(db);
    let new = dir.path().join("new.db");
    let salvaged = salvage(&path, &new, &mut |_, _| {}).unwrap();
    assert_eq!(salvaged.runs.len(), 1);
    let found = Store::open_existing(&new).unwrap().get(&id(1)).unwrap();
    assert_eq!(found.totals, record(&id(1), RunState::Finished).totals);
}

#[test]
fn a_new_file_is_a_new_file() {
    let whole = whole();
    let there = whole.dir.path().join("diary.txt");
    fs::write(&there, "dear diary").unwrap();
    let error = salvage(&whole.path, &there, &mut |_, _| {}).unwrap_err();
    assert!(matches!(error, StoreError::Occupied { .. }), "{error:?}");
    assert_eq!(fs::read(&there).unwrap(), b"dear diary");
    let error = salvage(&whole.path, &whole.path, &mut |_, _| {}).unwrap_err();
    assert!(matches!(error, StoreError::Occupied { .. }), "{error:?}");
    let absent = whole.dir.path().join("absent.db");
    let new = whole.dir.path().join("new.db");
    let error = salvage(&absent, &new, &mut |_, _| {}).unwrap_err();
    assert!(matches!(error, StoreError::Absent { .. }), "{error:?}");
    assert!(!new.exists());
}

#[test]
fn studies_come_back_with_their_steps_and_what_waits_for_being_put_back() {
    let dir = folder();
    let path = dir.path().join("runs.db");
    let mut store = Store::open(&path).unwrap();
    let study = NewStudy {
        id: "0191".into(),
        name: "sweep".into(),
        file: "# long enough for other pages\n".repeat(500),
        ..NewStudy::default()
    };
    let steps: Vec<NewStep> = (0..50)
        .map(|n| NewStep {
            kind: "run".into(),
            cell: format!("threads={n}"),
            repeat: 1,
            command: vec!["tidemark".into(), "sysbench".into()],
        })
        .collect();
    store.begin_study(&study, &steps, false, &|_| None).unwrap();
    let change = ChangedSetting {
        target: "a".into(),
        server: "127.0.0.1:3306".into(),
        name: "innodb_flush_log_at_trx_commit".into(),
        before: Some("1".into()),
        changed_to: "2".into(),
        moved_by: Some("sync_binlog".into()),
        snapshot: Some("{}".into()),
    };
    store.setting_changes("0191", &change).unwrap();
    let (row, rows) = (store.study("0191").unwrap(), store.steps("0191").unwrap());
    drop(store);
    let mut bytes = fs::read(&path).unwrap();
    bytes[..PAGE].fill(0);
    fs::write(&path, &bytes).unwrap();
    let new = dir.path().join("new.db");
    let salvaged = salvage(&path, &new, &mut |_, _| {}).unwrap();
    assert_eq!((salvaged.studies, salvaged.broken_rows), (1, 0));
    let saved = Store::open_existing(&new).unwrap();
    assert_eq!(saved.study("0191").unwrap(), row);
    assert_eq!(saved.steps("0191").unwrap(), rows);
    assert_eq!(saved.changed_settings("0191").unwrap(), [change]);
}

#[test]
fn any_other_file_gives_nothing_and_harms_nothing() {
    let whole = whole();
    let mut dice = Dice(7);
    let noise: Vec<u8> = (0..50_000).map(|_| dice.roll(256) as u8).collect();
    // Pages that say to be leaves, full of rows that lead anywhere.
    let mut leaves = noise.clone();
    for page in leaves.chunks_mut(PAGE) {
        page[0] = 0x0d;
    }
    for (name, bytes) in [("noise", noise), ("leaves", leaves), ("empty", vec![])] {
        let (salvaged, _) = whole.salvaged(&bytes, name);
        assert!(salvaged.runs.is_empty() && salvaged.studies == 0, "{name}");
    }
}
