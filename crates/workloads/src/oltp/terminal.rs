//! One emulated user of the family.

use super::check::{self, Expect};
use super::options::MAX_ROWS;
use super::plan::{Plan, StatementGroup};
use super::statements::Statements;
use crate::Done;
use crate::random::{KeyShare, Rng, RowText};
use crate::terminal::User;
use std::fmt::Write as _;
use std::sync::Arc;
use tidemark_core::{DbError, ErrorClass};
use tidemark_drivers::{RowSet, Session, Value};

/// Marks the terminals' streams of random numbers: no table has this number.
const TERMINAL_STREAM: u64 = u64::MAX;

/// One emulated user: its random numbers and the memory it uses again. Nothing is
/// allocated for a point SELECT, a range or an UPDATE.
#[derive(Debug)]
pub struct Terminal {
    plan: Arc<Plan>,
    rng: Rng,
    /// The keys that no other terminal chooses, with `--disjoint-keys`.
    share: Option<KeyShare>,
    text: RowText,
    /// Text of an INSERT that is not prepared.
    sql: String,
    /// Decoded rows, with `--validate`.
    rows: Option<Box<RowSet>>,
}

impl User for Terminal {
    type Statements = Statements;

    /// Runs one transaction.
    ///
    /// # Errors
    /// The server's error, or with `--validate` a fatal `validation`.
    async fn transaction(
        &mut self,
        session: &mut Session,
        statements: &Statements,
    ) -> Result<Done, DbError> {
        if let Some((begin, _)) = self.plan.transaction {
            session.execute(statements.get(begin)?, &[]).await?;
        }
        for step in 0..self.plan.steps.len() {
            let (step, slot) = self.plan.steps[step];
            self.step(session, statements, step, slot).await?;
        }
        if let Some((_, end)) = self.plan.transaction {
            session.execute(statements.get(end)?, &[]).await?;
        }
        Ok(Done::of(0))
    }
}

impl Terminal {
    pub(super) fn new(plan: Arc<Plan>, number: usize, terminals: usize, seed: u64) -> Self {
        Self {
            share: plan.settings.share(number, terminals),
            rng: Rng::of(&[seed, TERMINAL_STREAM, number as u64]),
            text: RowText::default(),
            sql: String::new(),
            rows: plan.settings.validate.then(Box::default),
            plan,
        }
    }

    async fn step(
        &mut self,
        session: &mut Session,
        statements: &Statements,
        step: StatementGroup,
        first_slot: usize,
    ) -> Result<(), DbError> {
        let table = self.rng.below(self.plan.tables.into()) as usize;
        let slot = first_slot + table;
        match step {
            // What is run most by far has no layer more than it needs.
            StatementGroup::Points(times) if self.rows.is_none() => {
                let statement = statements.get(slot)?;
                for _ in 0..times {
                    let values = [Value::Int(self.key())];
                    session.execute(statement, &values).await?;
                }
            }
            StatementGroup::Points(times) => {
                for _ in 0..times {
                    let id = self.key();
                    self.read(
                        session,
                        statements,
                        slot,
                        &[Value::Int(id)],
                        Expect::Point(id),
                    )
                    .await?;
                }
            }
            StatementGroup::Ranges(query, times) => {
                for _ in 0..times {
                    let low = self.key();
                    let high = (low + self.plan.settings.range_size - 1).min(MAX_ROWS);
                    let values = [Value::Int(low), Value::Int(high)];
                    let expect = Expect::range(query, low, high);
                    self.read(session, statements, slot, &values, expect)
                        .await?;
                }
            }
            StatementGroup::UpdateIndex(times) => {
                for _ in 0..times {
                    let id = self.key();
                    self.write(session, statements, slot, &[Value::Int(id)])
                        .await?;
                }
            }
            StatementGroup::Delete(times) => {
                for _ in 0..times {
                    let id = self.key();
                    self.write(session, statements, slot, &[Value::Int(id)])
                        .await?;
                }
            }
            StatementGroup::UpdateNonIndex(times) => {
                for _ in 0..times {
                    let id = self.key();
                    self.text.draw_c(&mut self.rng);
                    let values = [Value::Text(self.text.c()), Value::Int(id)];
                    self.write(session, statements, slot, &values).await?;
                }
            }
            StatementGroup::DeleteInsert(times) => {
                let insert = slot + self.plan.tables as usize;
                for _ in 0..times {
                    let id = self.key();
                    self.write(session, statements, slot, &[Value::Int(id)])
                        .await?;
                    let k = self.key();
                    self.draw_text();
                    let values = [
                        Value::Int(id),
                        Value::Int(k),
                        Value::Text(self.text.c()),
                        Value::Text(self.text.pad()),
                    ];
                    self.write(session, statements, insert, &values).await?;
                }
            }
            StatementGroup::InsertText => self.insert_text(session, statements, table + 1).await?,
            StatementGroup::InsertBatch => self.insert_batch(session, statements, slot).await?,
            StatementGroup::UpsertBatch => self.upsert_batch(session, statements, slot).await?,
            StatementGroup::RandomPoints => {
                let count = self.plan.settings.random_points;
                let values: Vec<_> = (0..count).map(|_| Value::Int(self.key())).collect();
                self.read(session, statements, slot, &values, Expect::Any)
                    .await?;
            }
            StatementGroup::RandomRanges => {
                let settings = &self.plan.settings;
                let (count, delta) = (settings.number_of_ranges, settings.delta);
                let mut values = Vec::with_capacity(2 * count as usize);
                for _ in 0..count {
                    let low = self.key();
                    let high = (low + delta).min(MAX_ROWS);
                    values.extend([Value::Int(low), Value::Int(high)]);
                }
                self.read(session, statements, slot, &values, Expect::One)
                    .await?;
            }
        }
        Ok(())
    }

    /// sysbench sends this INSERT as text whatever the mode.
    async fn insert_text(
        &mut self,
        session: &mut Session,
        statements: &Statements,
        table: usize,
    ) -> Result<(), DbError> {
        let k = self.key();
        let id = if self.plan.settings.client_keys() {
            Some(self.new_key())
        } else {
            statements.next_key()
        };
        self.draw_text();
        let (c, pad) = (self.text.c(), self.text.pad());
        self.sql.clear();
        // Writing to a String can't fail.
        let _ = match id {
            Some(id) => write!(
                self.sql,
                "INSERT INTO sbtest{table} (id, k, c, pad) VALUES ({id}, {k}, '{c}', '{pad}')"
            ),
            None => write!(
                self.sql,
                "INSERT INTO sbtest{table} (k, c, pad) VALUES ({k}, '{c}', '{pad}')"
            ),
        };
        let sent = session.simple(&self.sql).await.map(drop);
        sent.map_err(|e| self.unless_drawn(e))
    }

    /// A key that this client drew at random may be there already: the draw is at fault and not the
    /// statement, so another one is made. A duplicate of any other key is what it says.
    fn unless_drawn(&self, error: DbError) -> DbError {
        if error.class == ErrorClass::Constraint && self.plan.settings.client_keys() {
            let class = ErrorClass::Retryable;
            return DbError { class, ..error };
        }
        error
    }

    async fn insert_batch(
        &mut self,
        session: &mut Session,
        statements: &Statements,
        slot: usize,
    ) -> Result<(), DbError> {
        let keyed = self.plan.settings.client_keys();
        let rows = self.plan.settings.batch_size;
        let keys = (0..rows).map(|_| keyed.then(|| self.new_key())).collect();
        let sent = self.batch(session, statements, slot, keys).await;
        sent.map_err(|e| self.unless_drawn(e))
    }

    /// The keys of one statement differ (PostgreSQL refuses to touch a row twice) and ascend, so
    /// that two sessions can't wait for each other.
    async fn upsert_batch(
        &mut self,
        session: &mut Session,
        statements: &Statements,
        slot: usize,
    ) -> Result<(), DbError> {
        let size = self.plan.settings.table_size as i64;
        let mut keys: Vec<i64> = Vec::with_capacity(self.plan.settings.batch_size as usize);
        while keys.len() < self.plan.settings.batch_size as usize {
            let mut id = self.key();
            // A key that is taken gives way to the next free one.
            let at = loop {
                match keys.binary_search(&id) {
                    Ok(_) => id = id % size + 1,
                    Err(at) => break at,
                }
            };
            keys.insert(at, id);
        }
        self.batch(
            session,
            statements,
            slot,
            keys.into_iter().map(Some).collect(),
        )
        .await
    }

    async fn batch(
        &mut self,
        session: &mut Session,
        statements: &Statements,
        slot: usize,
        keys: Vec<Option<i64>>,
    ) -> Result<(), DbError> {
        let texts: Vec<RowText> = keys
            .iter()
            .map(|_| {
                self.draw_text();
                self.text.clone()
            })
            .collect();
        let mut values = Vec::with_capacity(4 * keys.len());
        for (id, text) in keys.iter().zip(&texts) {
            values.extend(id.map(Value::Int));
            let k = self.plan.keys.draw(&mut self.rng);
            values.extend([
                Value::Int(k),
                Value::Text(text.c()),
                Value::Text(text.pad()),
            ]);
        }
        session
            .execute(statements.get(slot)?, &values)
            .await
            .map(drop)
    }

    async fn read(
        &mut self,
        session: &mut Session,
        statements: &Statements,
        slot: usize,
        values: &[Value<'_>],
        expect: Expect,
    ) -> Result<(), DbError> {
        let statement = statements.get(slot)?;
        match &mut self.rows {
            None => session.execute(statement, values).await.map(drop),
            Some(rows) => {
                session.fetch(statement, values, rows).await?;
                check::rows(expect, rows, &self.plan.settings)
            }
        }
    }

    async fn write(
        &self,
        session: &mut Session,
        statements: &Statements,
        slot: usize,
        values: &[Value<'_>],
    ) -> Result<(), DbError> {
        let outcome = session.execute(statements.get(slot)?, values).await?;
        if self.rows.is_some() && outcome.affected > 1 {
            return Err(check::failed(format!(
                "a statement on one key changed {} rows",
                outcome.affected
            )));
        }
        Ok(())
    }

    /// The key of a row that exists.
    fn key(&mut self) -> i64 {
        let drawn = self.plan.keys.draw(&mut self.rng);
        match self.share {
            None => drawn,
            // Keys begin with 1.
            Some(share) => share.own(drawn as u64 - 1) as i64 + 1,
        }
    }

    /// The key of a new row: any 32-bit number as sysbench draws it, or beyond the loaded ones.
    fn new_key(&mut self) -> i64 {
        let settings = &self.plan.settings;
        if settings.random_keys {
            let loaded = settings.table_size;
            let free = (i32::MAX as u64).saturating_sub(loaded);
            (loaded + 1 + self.rng.below(free)) as i64
        } else {
            i64::from(self.rng.bits() as i32)
        }
    }

    fn draw_text(&mut self) {
        self.text.draw_c(&mut self.rng);
        self.text.draw_pad(&mut self.rng);
    }
}

#[cfg(test)]
mod tests {
    use super::super::settings::Settings;
    use super::*;
    use tidemark_core::{OptionValues, Source};

    fn terminal(options: &[(&str, &str)], number: usize, seed: u64) -> Terminal {
        let tables = [
            crate::random::RAND_OPTIONS,
            crate::oltp::COMMON,
            crate::oltp::BATCH,
        ];
        let mut values = OptionValues::defaults(tables);
        for (name, value) in options {
            values.set(name, value, Source::CommandLine).unwrap();
        }
        let settings = Settings::new(&values).unwrap();
        Terminal::new(
            Arc::new(Plan::new(settings, vec![], false)),
            number,
            8,
            seed,
        )
    }

    #[test]
    fn disjoint_keys_are_chosen_by_one_terminal_each() {
        for rand in ["special", "uniform", "pareto", "zipfian"] {
            let options = [
                ("disjoint-keys", "on"),
                ("table-size", "100"),
                ("rand-type", rand),
            ];
            let mut owners = std::collections::BTreeMap::new();
            for number in 0..8 {
                let mut t = terminal(&options, number, 1);
                for _ in 0..500 {
                    let key = t.key();
                    assert!((1..=100).contains(&key), "{rand}: {key}");
                    assert_eq!(
                        *owners.entry(key).or_insert(number),
                        number,
                        "{rand}: {key}"
                    );
                }
            }
            assert!(owners.len() > 20, "{rand}: {owners:?}");
        }
    }

    #[test]
    fn a_seed_and_a_number_give_the_same_keys_again_and_no_one_elses() {
        let keys = |number, seed| -> Vec<i64> {
            let mut t = terminal(&[("rand-type", "uniform")], number, seed);
            (0..50).map(|_| t.key()).collect()
        };
        assert_eq!(keys(3, 1), keys(3, 1));
        assert_ne!(keys(3, 1), keys(4, 1));
        assert_ne!(keys(3, 1), keys(3, 2));
    }

    #[test]
    fn random_new_keys_lie_beyond_the_loaded_ones() {
        let mut t = terminal(
            &[("key-order", "random"), ("table-size", "2000000000")],
            0,
            1,
        );
        for _ in 0..1000 {
            let id = t.new_key();
            assert!(id > 2_000_000_000 && id <= i64::from(i32::MAX), "{id}");
        }
    }

    #[test]
    fn client_keys_are_any_32_bit_number() {
        let mut t = terminal(&[("auto-inc", "off")], 0, 1);
        let keys: Vec<i64> = (0..1000).map(|_| t.new_key()).collect();
        assert!(keys.iter().all(|id| i32::try_from(*id).is_ok()));
        assert!(keys.iter().any(|id| *id < 0) && keys.iter().any(|id| *id > 1 << 30));
    }
}
