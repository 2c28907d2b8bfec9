//! One client thread: operations on records.

use super::encoding::{deterministic_value, key};
use super::inserted::Inserted;
use super::keys::Keys;
use super::rows::value;
use super::settings::Settings;
use super::statements::Statements;
use super::zipfian::Zipfian;
use crate::random::{KeyShare, Rng};
use crate::terminal::is_same_again;
use crate::{Done, InnerOperation, Notes};
use std::sync::Arc;
use std::time::Instant;
use tidemark_core::{DbError, Shard};
use tidemark_drivers::{Cell, RowSet, Session, Value};

/// Operations, by their index in [`super::TRANSACTION_TYPES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OperationKind {
    Read,
    Update,
    Insert,
    Scan,
    ReadModifyWrite,
}

impl OperationKind {
    const ALL: [OperationKind; 5] = [
        OperationKind::Read,
        OperationKind::Update,
        OperationKind::Insert,
        OperationKind::Scan,
        OperationKind::ReadModifyWrite,
    ];
}

/// Counted outcomes, by their index in [`super::NOTES`].
#[derive(Debug, Clone, Copy)]
enum Note {
    MissingRecord,
    NoopUpdate,
    DuplicateInsert,
    EmptyScan,
}

/// What all terminals of a run share.
#[derive(Debug)]
pub(super) struct Plan {
    settings: Arc<Settings>,
    keys: Keys,
    inserted: Inserted,
    /// Sums of the shares up to and including each operation's; the last is 1.
    mix: [f64; 5],
}

impl Plan {
    pub fn new(settings: Arc<Settings>) -> Self {
        let all: f64 = settings.proportions.iter().sum();
        let mut sum = 0.0;
        let mix = settings.proportions.map(|share| {
            sum += share / all;
            sum
        });
        Self {
            keys: Keys::new(&settings),
            inserted: Inserted::new(settings.record_count),
            mix,
            settings,
        }
    }

    /// What terminals share is this client's part from now on.
    pub fn deal(&self, shard: Shard) {
        self.inserted.deal(shard);
        self.keys.deal(shard);
    }
}

/// One operation, chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Operation {
    kind: OperationKind,
    /// The record's number.
    number: u64,
    /// The field to read, where not all are.
    read: usize,
    /// The field to update, where not all are.
    update: usize,
    /// Records of a scan.
    length: u64,
}

/// Memory that operations use one after another.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    key: String,
    /// Of each field that is written.
    values: Vec<String>,
    /// A value as it must be.
    expected: String,
    /// Rows that are verified.
    rows: RowSet,
}

/// A client thread.
#[derive(Debug)]
pub struct Terminal {
    plan: Arc<Plan>,
    rng: Rng,
    /// The records that no other thread chooses, with `disjoint-keys`.
    share: Option<KeyShare>,
    /// Ages of records, for distributions that grow with the table.
    ages: Zipfian,
    /// What was chosen and is not done yet: an operation that is tried again is the same one.
    chosen: Option<Operation>,
    /// The parts of the last operation, if it was a READ_MODIFY_WRITE.
    parts: Option<[InnerOperation; 2]>,
}

impl crate::terminal::User for Terminal {
    type Statements = Statements;

    /// What the last operation was made of, for those who time it by parts.
    #[inline]
    fn parts(&self) -> &[InnerOperation] {
        self.parts.as_ref().map_or(&[], |parts| parts)
    }

    /// Runs one operation. After an error that says so it is the same one again.
    ///
    /// # Errors
    /// The server's error; fatal `validation` for a value that is not what its key says
    /// (`dataintegrity`).
    async fn transaction(
        &mut self,
        session: &mut Session,
        statements: &Statements,
    ) -> Result<Done, DbError> {
        let operation = match self.chosen {
            Some(operation) => operation,
            None => self.choose(),
        };
        self.chosen = Some(operation);
        self.parts = None;
        session.begins(operation.kind as usize);
        let mut scratch = statements.take_scratch();
        let mut work = Work {
            settings: &self.plan.settings,
            session,
            statements,
            scratch: &mut scratch,
            notes: Notes::NONE,
        };
        key(work.settings, operation.number, &mut work.scratch.key);
        let done = match operation.kind {
            OperationKind::Read => work.read(operation.read).await,
            OperationKind::Update => {
                work.draw(operation.update, work.settings.write_all, &mut self.rng);
                work.update(operation.update).await
            }
            // In boxes: a session's task is as large as its largest wait, and these are rarer.
            OperationKind::Insert => {
                work.draw(0, true, &mut self.rng);
                Box::pin(work.insert()).await
            }
            OperationKind::Scan => Box::pin(work.scan(operation)).await,
            OperationKind::ReadModifyWrite => {
                work.draw(operation.update, work.settings.write_all, &mut self.rng);
                let parts = Box::pin(work.read_modify_write(operation)).await;
                parts.map(|parts| self.parts = Some(parts))
            }
        };
        let notes = work.notes;
        statements.give_back(scratch);
        if !done.as_ref().is_err_and(is_same_again) {
            self.chosen = None;
            if operation.kind == OperationKind::Insert {
                // Also after an error: those after it would else never be chosen. Reads tell what is missing.
                self.plan.inserted.acknowledge(operation.number);
            }
        }
        done.map(|()| Done {
            kind: operation.kind as usize,
            notes,
        })
    }
}

impl Terminal {
    pub(super) fn new(plan: Arc<Plan>, number: usize, terminals: usize, seed: u64) -> Self {
        let share = || KeyShare::new(number, terminals, plan.settings.insert_count);
        Self {
            share: plan.settings.disjoint_keys.then(share),
            plan,
            rng: Rng::of(&[seed, number as u64]),
            ages: Zipfian::new(1),
            chosen: None,
            parts: None,
        }
    }

    fn choose(&mut self) -> Operation {
        let plan = &*self.plan;
        let settings = &*plan.settings;
        let rng = &mut self.rng;
        let at = rng.unit();
        let kinds = OperationKind::ALL.into_iter().zip(plan.mix);
        let kind = kinds.into_iter().find(|(_, up_to)| at < *up_to);
        let kind = kind.map_or(OperationKind::Read, |(kind, _)| kind);
        let number = match kind {
            OperationKind::Insert => plan.inserted.take(),
            _ => {
                let drawn = plan.keys.draw(&plan.inserted, &mut self.ages, rng);
                let start = settings.insert_start;
                self.share.map_or(drawn, |share| {
                    // Records that were inserted are chosen, too; but where clients share a run, none
                    // knows those of the others, which may be its terminal's.
                    let there = settings.insert_count.max(drawn + 1 - start);
                    match plan.inserted.is_shared() {
                        false => start + share.over(there).own(drawn - start),
                        true => start + share.own((drawn - start) % settings.insert_count.max(1)),
                    }
                })
            }
        };
        let mut field = |all: bool| match all {
            true => 0,
            false => rng.below(settings.field_count as u64) as usize,
        };
        Operation {
            kind,
            number,
            read: field(settings.read_all),
            update: field(settings.write_all),
            length: match kind {
                OperationKind::Scan => settings.scan_lengths.draw(rng),
                _ => 0,
            },
        }
    }
}

/// One operation at work.
struct Work<'a> {
    settings: &'a Settings,
    session: &'a mut Session,
    statements: &'a Statements,
    scratch: &'a mut Scratch,
    notes: Notes,
}

impl Work<'_> {
    fn note(&mut self, what: Note, happened: bool) {
        if happened {
            self.notes.add(what as usize);
        }
    }

    /// New values: of all fields, or of the one of this number.
    fn draw(&mut self, field: usize, all: bool, rng: &mut Rng) {
        let count = if all { self.settings.field_count } else { 1 };
        let scratch = &mut *self.scratch;
        scratch.values.resize_with(count, String::new);
        for (nth, out) in scratch.values.iter_mut().enumerate() {
            let number = if all { nth } else { field };
            value(self.settings, &scratch.key, number, rng, out);
        }
    }

    async fn read(&mut self, field: usize) -> Result<(), DbError> {
        let statement = self.statements.read(field)?;
        let key = [Value::Text(&self.scratch.key)];
        let found = if self.settings.integrity {
            let rows = &mut self.scratch.rows;
            let outcome = self.session.fetch(statement, &key, rows).await?;
            self.verify(field, None)?;
            outcome.rows
        } else {
            self.session.execute(statement, &key).await?.rows
        };
        self.note(Note::MissingRecord, found == 0);
        Ok(())
    }

    async fn update(&mut self, field: usize) -> Result<(), DbError> {
        let statement = self.statements.update(field)?;
        let scratch = &*self.scratch;
        let changed = match scratch.values.as_slice() {
            [one] => {
                let values = [Value::Text(one), Value::Text(&scratch.key)];
                self.session.execute(statement, &values).await?
            }
            all => {
                let values = all.iter().chain([&scratch.key]);
                let values: Vec<Value<'_>> = values.map(|v| Value::Text(v)).collect();
                self.session.execute(statement, &values).await?
            }
        };
        self.note(Note::NoopUpdate, changed.affected == 0);
        Ok(())
    }

    async fn insert(&mut self) -> Result<(), DbError> {
        let statement = self.statements.insert()?;
        let scratch = &*self.scratch;
        let values = std::iter::once(&scratch.key).chain(&scratch.values);
        let values: Vec<Value<'_>> = values.map(|v| Value::Text(v)).collect();
        let outcome = self.session.execute(statement, &values).await?;
        self.note(Note::DuplicateInsert, outcome.affected == 0);
        Ok(())
    }

    async fn scan(&mut self, operation: Operation) -> Result<(), DbError> {
        let statement = self.statements.scan(operation.read)?;
        let length = i64::try_from(operation.length).unwrap_or(i64::MAX);
        let values = [Value::Text(&self.scratch.key), Value::Int(length)];
        let found = if self.settings.integrity {
            let rows = &mut self.scratch.rows;
            let outcome = self.session.fetch(statement, &values, rows).await?;
            self.verify(operation.read, Some(0))?;
            outcome.rows
        } else {
            self.session.execute(statement, &values).await?.rows
        };
        self.note(Note::EmptyScan, found == 0);
        Ok(())
    }

    /// The whole, and how long its two statements took.
    async fn read_modify_write(
        &mut self,
        operation: Operation,
    ) -> Result<[InnerOperation; 2], DbError> {
        let part = |kind: OperationKind, begun: Instant| InnerOperation {
            kind: kind as usize,
            service: begun.elapsed(),
        };
        let begun = Instant::now();
        self.read(operation.read).await?;
        let read = part(OperationKind::Read, begun);
        let begun = Instant::now();
        self.update(operation.update).await?;
        let update = part(OperationKind::Update, begun);
        Ok([read, update])
    }

    /// Compares every value of the rows with what its key says. `key_column` is where the rows hold
    /// their keys; else there is one key, the operation's.
    fn verify(&mut self, field: usize, key_column: Option<usize>) -> Result<(), DbError> {
        let scratch = &mut *self.scratch;
        let length = usize::try_from(self.settings.field_length).unwrap_or(usize::MAX);
        let fields = if self.settings.read_all {
            0..self.settings.field_count
        } else {
            field..field + 1
        };
        let first = key_column.map_or(0, |at| at + 1);
        for row in 0..scratch.rows.len() {
            let key = match key_column {
                None => None,
                Some(at) => Some(scratch.rows.text(row, at).unwrap_or_default()),
            };
            let key = key.as_deref().unwrap_or(&scratch.key);
            for (nth, number) in fields.clone().enumerate() {
                deterministic_value(key, number, length, &mut scratch.expected);
                let found = scratch.rows.get(row, first + nth);
                if found != Some(Cell::Bytes(scratch.expected.as_bytes())) {
                    let found = scratch.rows.text(row, first + nth);
                    return Err(crate::oltp::failed_validation(format!(
                        "field{number} of the record {key} is {:?}, must be {:?}",
                        found.unwrap_or_else(|| "NULL".into()),
                        scratch.expected
                    )));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::settings::tests::settings;
    use super::super::zipfian::tests::fits;
    use super::*;

    fn terminal(options: &[(&str, &str)], number: usize) -> Terminal {
        let settings = Arc::new(settings(options).unwrap());
        Terminal::new(Arc::new(Plan::new(settings)), number, 4, 1)
    }

    #[test]
    fn disjoint_records_are_chosen_by_one_thread_each() {
        for distribution in ["uniform", "zipfian", "hotspot"] {
            let options = [
                ("recordcount", "50"),
                ("insertstart", "10"),
                ("disjoint-keys", "on"),
                ("requestdistribution", distribution),
            ];
            let mut owners = std::collections::BTreeMap::new();
            for number in 0..4 {
                let mut t = terminal(&options, number);
                for _ in 0..300 {
                    let record = t.choose().number;
                    assert!((10..50).contains(&record), "{distribution}: {record}");
                    assert_eq!(*owners.entry(record).or_insert(number), number);
                }
            }
            assert!(owners.len() > 20, "{distribution}: {owners:?}");
        }
    }

    proptest::proptest! {
        /// Clients that do as many operations as each other do what one would: the same operations of the
        /// same terminals, and the same records inserted, each once.
        #[test]
        fn clients_do_the_operations_of_one(of in 1u32..6, more in 0usize..8, each in 1usize..40) {
            let options = [
                ("recordcount", "100"),
                ("insertproportion", "0.3"),
                ("updateproportion", "0.3"),
                ("readproportion", "0.4"),
                ("readallfields", "false"),
                ("requestdistribution", "uniform"),
            ];
            let settings = Arc::new(settings(&options).unwrap());
            let terminals = of as usize + more;
            // Of inserts, which number it is depends on who comes first.
            let run = |shard: Shard| {
                let plan = Arc::new(Plan::new(Arc::clone(&settings)));
                plan.deal(shard);
                let (mut others, mut inserted) = (Vec::new(), Vec::new());
                for local in 0..shard.count_usize(terminals) {
                    let number = shard.global_usize(local);
                    let mut t = Terminal::new(Arc::clone(&plan), number, terminals, 3);
                    for _ in 0..each {
                        let operation = t.choose();
                        match operation.kind {
                            OperationKind::Insert => inserted.push(operation.number),
                            _ => others.push((number, format!("{operation:?}"))),
                        }
                    }
                }
                (others, inserted)
            };
            let (mut wanted, numbers) = run(Shard::WHOLE);
            wanted.sort();
            let (mut found, mut taken) = (Vec::new(), std::collections::BTreeSet::new());
            let mut count = 0;
            for index in 0..of {
                let (others, inserted) = run(Shard { index, of });
                found.extend(others);
                count += inserted.len();
                // Each has a part of its own, without gaps in it.
                for (local, number) in (0u64..).zip(&inserted) {
                    assert_eq!(*number, 100 + Shard { index, of }.global(local));
                    assert!(taken.insert(*number), "{number} twice");
                }
            }
            found.sort();
            proptest::prop_assert_eq!(found, wanted);
            proptest::prop_assert_eq!(count, numbers.len());
        }
    }

    #[test]
    fn operations_come_as_often_as_asked_whatever_the_unit() {
        let mut terminal = terminal(
            &[
                ("recordcount", "10"),
                ("readproportion", "0.2"),
                ("updateproportion", "0.1"),
                ("insertproportion", "0.05"),
                ("scanproportion", "0.1"),
                ("readmodifywriteproportion", "0.05"),
            ],
            1,
        );
        let mut counts = [0u64; 5];
        for _ in 0..100_000 {
            counts[terminal.choose().kind as usize] += 1;
        }
        fits(&counts, &[0.4, 0.2, 0.1, 0.2, 0.1], "mix");
    }

    #[test]
    fn terminals_of_a_seed_choose_again_what_they_chose_and_no_one_elses() {
        let chosen = |number| -> Vec<Operation> {
            let mut t = terminal(&[("recordcount", "1000"), ("readallfields", "off")], number);
            (0..50).map(|_| t.choose()).collect()
        };
        assert_eq!(chosen(3), chosen(3));
        assert_ne!(chosen(3), chosen(4));
        assert!(chosen(3).iter().any(|o| o.read > 0));
    }

    #[test]
    fn inserted_records_have_numbers_of_their_own() {
        let mut terminal = terminal(
            &[
                ("recordcount", "7"),
                ("insertproportion", "1"),
                ("readproportion", "0"),
                ("updateproportion", "0"),
            ],
            0,
        );
        let numbers: Vec<u64> = (0..3).map(|_| terminal.choose().number).collect();
        assert_eq!(numbers, [7, 8, 9]);
    }
}
