//! What a client does next, and what it learns from others.

use super::board::{Board, Job, LoadTask};
use super::table_work::TableWork;
use std::sync::Arc;
use std::time::Instant;
use tidemark_core::OptionValues;
use tidemark_drivers::journal::{Journal, JournalLine, LoadPart, PartState};
use tidemark_workloads::{TablePlan, Workload};

/// This client's number.
const ME: u64 = 4711;

fn line(table: &str, part: LoadPart, state: PartState, owner: &str) -> JournalLine {
    JournalLine {
        table: table.into(),
        part,
        state,
        owner: owner.into(),
    }
}

fn chunk(first: u64) -> LoadPart {
    LoadPart::Chunk { first, units: 10 }
}

fn workload() -> Arc<dyn Workload> {
    let definition = tidemark_workloads::find("oltp_insert").unwrap();
    let values: OptionValues = definition.defaults();
    (definition.build)(&values).unwrap()
}

/// Tables a and b, of two and three open chunks of ten rows; b has a foreign key.
fn board() -> Board {
    let workload = workload();
    let works = [("a", 2), ("b", 3)].into_iter().enumerate();
    let works = works.map(|(index, (name, chunks))| {
        let mut lines: Vec<JournalLine> = (0..chunks)
            .map(|n| line(name, chunk(10 * n), PartState::Open, ""))
            .collect();
        lines.push(line(name, LoadPart::Indexes, PartState::Open, ""));
        lines.push(line(name, LoadPart::Verify, PartState::Open, ""));
        if name == "b" {
            lines.push(line(name, LoadPart::AfterAll, PartState::Open, ""));
        }
        let plan = TablePlan {
            name: name.into(),
            ..TablePlan::default()
        };
        TableWork::new(index, plan, true, lines.iter(), workload.as_ref(), 1)
    });
    Board::new(works.collect())
}

fn task(board: &Board) -> LoadTask {
    match board.next() {
        Job::Do(task) => task,
        other => panic!("{other:?}"),
    }
}

#[test]
fn parts_come_in_order_and_each_once() {
    let board = board();
    let mut seen = Vec::new();
    while let Job::Do(task) = board.next() {
        seen.push((task.plan.name.clone(), task.part));
        if task.part == LoadPart::Verify {
            let rows = if task.index == 0 { 20 } else { 30 };
            assert_eq!(board.counted(&task), Some(rows));
        }
        board.done(&task, true);
    }
    let expected = [
        ("b", chunk(0)),
        ("a", chunk(0)),
        ("b", chunk(10)),
        ("a", chunk(10)),
        ("a", LoadPart::Indexes),
        ("b", chunk(20)),
        ("b", LoadPart::Indexes),
        ("b", LoadPart::AfterAll),
        ("a", LoadPart::Verify),
        ("b", LoadPart::Verify),
    ];
    let expected = expected.map(|(table, part)| (table.to_string(), part));
    assert_eq!(seen, expected);
    assert_eq!((board.rows_done(), board.rows_mine()), (50, 50));
    assert!(board.is_over());
}

#[test]
fn what_others_do_is_waited_for_and_what_they_leave_is_done() {
    let board = board();
    let first = task(&board);
    board.lost(&first);
    let mut mine = vec![];
    while let Job::Do(task) = board.next() {
        mine.push(task.part);
        board.done(&task, false);
    }
    assert!(!mine.contains(&LoadPart::AfterAll), "{mine:?}");
    assert!(matches!(board.next(), Job::Wait));
    // Its owner ended.
    let mut journal = Journal::default();
    let b = |part, state| line("b", part, state, "other");
    journal.lines.extend([
        b(chunk(0), PartState::Open),
        // Read before this client's own commits: they stay done.
        b(chunk(10), PartState::Claimed),
        b(LoadPart::Indexes, PartState::Open),
        b(LoadPart::AfterAll, PartState::Open),
        b(LoadPart::Verify, PartState::Open),
        line("a", LoadPart::Verify, PartState::Open, ""),
    ]);
    assert!(board.learn(&journal, Instant::now(), ME));
    let again = task(&board);
    assert_eq!((again.part, again.begun), (chunk(0), true));
    board.done(&again, false);
    while let Job::Do(task) = board.next() {
        board.done(&task, false);
    }
    assert!(board.is_over());
}

#[test]
fn parts_that_vanish_are_noticed() {
    let board = board();
    assert!(!board.learn(&Journal::default(), Instant::now(), ME));
    board.all_done();
    assert!(board.learn(&Journal::default(), Instant::now(), ME) && board.is_over());
}

#[test]
fn two_foreign_keys_are_not_made_at_once() {
    let board = board();
    while let Job::Do(task) = board.next() {
        if task.part == LoadPart::AfterAll {
            assert!(matches!(board.next(), Job::Wait));
        }
        board.done(&task, false);
    }
}

#[test]
fn what_a_crash_took_back_is_done_again() {
    let board = board();
    let before = Instant::now();
    let mut done = vec![];
    for _ in 0..4 {
        let task = task(&board);
        board.done(&task, true);
        done.push((task.plan.name.clone(), task.part));
    }
    let (table, part) = done[0].clone();
    let mut journal = Journal::default();
    for (nth, (table, part)) in done.iter().enumerate() {
        let state = [
            PartState::Claimed,
            PartState::Open,
            PartState::Done,
            PartState::Done,
        ][nth];
        journal.lines.push(line(table, *part, state, "4711"));
    }
    for name in ["a", "b"] {
        for part in [
            chunk(20),
            LoadPart::Indexes,
            LoadPart::AfterAll,
            LoadPart::Verify,
        ] {
            journal.lines.push(line(name, part, PartState::Open, ""));
        }
    }
    // Without a lost session the journal is merely older than what was done.
    assert!(board.learn(&journal, Instant::now(), ME));
    assert_eq!((board.rows_mine(), board.chunks_mine()), (40, 4));
    board.doubt();
    assert!(matches!(board.next(), Job::Wait));
    // One that was asked for before the loss tells nothing.
    board.learn(&journal, before, ME);
    assert!(board.is_in_doubt());
    board.learn(&journal, Instant::now(), ME);
    assert!(!board.is_in_doubt());
    assert_eq!((board.rows_mine(), board.chunks_mine()), (20, 2));
    let mut again = vec![];
    while let Job::Do(task) = board.next() {
        assert!(board.is_due(&task));
        again.push((task.plan.name.clone(), task.part));
        // What was counted before the crash is not known to be there.
        assert!(task.part != LoadPart::Verify || board.counted(&task).is_none());
        board.done(&task, true);
    }
    assert!(again.contains(&(table, part)) && again.contains(&done[1]));
    assert!(!again.contains(&done[2]), "{again:?}");
    assert_eq!((board.rows_done(), board.rows_mine()), (50, 50));
}

#[test]
fn a_table_without_rows_is_counted_by_nobody() {
    let workload = workload();
    let lines = [line("a", LoadPart::Verify, PartState::Open, "")];
    let plan = TablePlan {
        name: "a".into(),
        ..TablePlan::default()
    };
    let work = TableWork::new(0, plan, true, lines.iter(), workload.as_ref(), 1);
    let board = Board::new(vec![work]);
    assert_eq!(board.counted(&task(&board)), None);
}

#[test]
fn a_table_without_its_lines_is_not_in_the_journal() {
    let workload = workload();
    let work = |lines: &[JournalLine]| {
        let plan = TablePlan::default();
        TableWork::new(0, plan, true, lines.iter(), workload.as_ref(), 1).is_in_journal()
    };
    let verify = line("a", LoadPart::Verify, PartState::Open, "");
    let indexes = line("a", LoadPart::Indexes, PartState::Done, "");
    assert!(!work(&[]));
    assert!(!work(std::slice::from_ref(&verify)));
    assert!(work(&[verify, indexes]));
}
