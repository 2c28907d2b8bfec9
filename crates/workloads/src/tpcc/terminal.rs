//! One emulated user.

use super::input::{Input, InputGenerator, TransactionKind, Who};
use super::statements::Statements;
use super::work::{Expected, TransactionWork};
use super::{Settings, delivery, new_order, order_status, pacing, payment, stock_level};
use crate::terminal::is_same_again;
use crate::{Done, Notes};
use std::sync::Arc;
use std::time::Duration;
use tidemark_core::DbError;
use tidemark_drivers::Session;

/// Counted outcomes, by their index in [`super::NOTES`].
#[derive(Debug, Clone, Copy)]
enum Note {
    RolledBack,
    DeliverySkipped,
    RemotePayment,
    RemoteLine,
    ByLastName,
    Line,
}

/// Index of the deferred part of Delivery among the types.
const DEFERRED: usize = 5;

/// A user at a terminal of a warehouse.
#[derive(Debug)]
pub struct Terminal {
    settings: Arc<Settings>,
    user: InputGenerator,
    /// The type of the last transaction, which the user thinks about; none before the first pause.
    last: Option<TransactionKind>,
    /// The type chosen for the next one.
    next: Option<TransactionKind>,
    /// What was typed and is not done yet: a transaction that is tried again is the same one, or
    /// retries would favour those that fail seldom.
    input: Option<Input>,
    /// The carrier of a Delivery that is queued (2.7.2).
    queued: Option<u8>,
}

impl crate::terminal::User for Terminal {
    type Statements = Statements;

    // In a box: a session's task is as large as its largest wait, also of a session that runs another
    // workload.
    fn transaction(
        &mut self,
        session: &mut Session,
        statements: &Statements,
    ) -> impl Future<Output = Result<Done, DbError>> {
        Box::pin(self.run(session, statements))
    }

    fn deferred(
        &mut self,
        session: &mut Session,
        statements: &Statements,
    ) -> impl Future<Output = Result<Done, DbError>> {
        Box::pin(self.deliver(session, statements))
    }

    /// Thinking about the last transaction and typing the next one, whose type is chosen now. The
    /// first pause is one that a moment of a run which has gone on for long falls into.
    fn pause(&mut self) -> Duration {
        if !self.settings.wait {
            return Duration::ZERO;
        }
        let scales = (self.settings.keying_scale, self.settings.think_scale);
        match self.last {
            Some(last) => {
                let next = self.choose();
                pacing::pause(last, next, scales, self.user.rng())
            }
            None => {
                let weight = &self.settings.weight;
                let (last, next, pause) = pacing::present(weight, scales, self.user.rng());
                (self.last, self.next) = (Some(last), Some(next));
                pause
            }
        }
    }

    /// Whether nothing is left to try again after an error: the user has seen it.
    fn gave_up(&self) -> bool {
        self.input.is_none() && self.queued.is_none()
    }

    /// Whether a Delivery is queued.
    #[inline]
    fn has_deferred(&self) -> bool {
        self.queued.is_some()
    }
}

impl Terminal {
    pub(super) fn new(settings: Arc<Settings>, number: usize, terminals: usize, seed: u64) -> Self {
        Self {
            user: InputGenerator::new(&settings, number, terminals, seed),
            last: None,
            settings,
            next: None,
            input: None,
            queued: None,
        }
    }

    fn choose(&mut self) -> TransactionKind {
        let next = match self.next {
            Some(next) => next,
            None => self.user.kind(&self.settings.weight),
        };
        self.next = Some(next);
        next
    }

    /// Runs one transaction. After an error that says so it is the same one again.
    ///
    /// # Errors
    /// The server's error; fatal `tpcc` for rows that must be there and are not.
    async fn run(
        &mut self,
        session: &mut Session,
        statements: &Statements,
    ) -> Result<Done, DbError> {
        let input = match self.input {
            Some(input) => input,
            None => {
                let kind = self.choose();
                self.next = None;
                self.last = Some(kind);
                self.user.input(kind, &self.settings)
            }
        };
        if let Input::Delivery { carrier } = input
            && self.settings.deferred
        {
            // 2.7.2: the user's part ends when the request is queued.
            self.queued = Some(carrier);
            return Ok(Done::of(TransactionKind::Delivery as usize));
        }
        self.input = Some(input);
        session.begins(input.kind() as usize);
        let done = self.work(session, statements, &input).await;
        if !done.as_ref().is_err_and(is_same_again) {
            self.input = None;
        }
        done
    }

    /// Does the Delivery that is queued.
    ///
    /// # Errors
    /// As [`Terminal::run`]; it stays queued after an error that says so.
    async fn deliver(
        &mut self,
        session: &mut Session,
        statements: &Statements,
    ) -> Result<Done, DbError> {
        let Some(carrier) = self.queued else {
            return Err(crate::terminal::nothing_deferred());
        };
        let input = Input::Delivery { carrier };
        session.begins(DEFERRED);
        let done = self.work(session, statements, &input).await;
        if !done.as_ref().is_err_and(is_same_again) {
            self.queued = None;
        }
        done.map(|done| Done {
            kind: DEFERRED,
            ..done
        })
    }

    async fn work(
        &self,
        session: &mut Session,
        statements: &Statements,
        input: &Input,
    ) -> Result<Done, DbError> {
        let mut scratch = statements.take_scratch();
        let mut work = TransactionWork {
            expected: Expected::default(),
            session,
            sql: statements,
            scratch: &mut scratch,
            warehouse: self.user.warehouse.into(),
        };
        let done = run(&mut work, input, self.user.district).await;
        statements.give_back(scratch);
        done
    }
}

async fn run(work: &mut TransactionWork<'_>, input: &Input, district: u8) -> Result<Done, DbError> {
    let mut notes = Notes::NONE;
    let mut note = |what: Note, happened: bool| {
        if happened {
            notes.add(what as usize);
        }
    };
    let by_name = |who: &Who| who.is_by_name();
    match input {
        Input::NewOrder(order) => {
            let entered = new_order::enter(work, order).await?;
            note(Note::RolledBack, entered.rolled_back);
            for line in order.lines() {
                note(Note::Line, true);
                note(
                    Note::RemoteLine,
                    i64::from(line.warehouse) != work.warehouse,
                );
            }
        }
        Input::Payment(payment) => {
            payment::pay(work, payment).await?;
            let owner = i64::from(payment.customer_warehouse);
            note(Note::RemotePayment, owner != work.warehouse);
            note(Note::ByLastName, by_name(&payment.who));
        }
        Input::OrderStatus(asked) => {
            order_status::ask(work, asked).await?;
            note(Note::ByLastName, by_name(&asked.who));
        }
        Input::Delivery { carrier } => {
            let skipped = delivery::deliver(work, *carrier).await?;
            (0..skipped).for_each(|_| note(Note::DeliverySkipped, true));
        }
        Input::StockLevel { threshold } => {
            stock_level::count(work, district, *threshold).await?;
        }
    }
    Ok(Done {
        kind: input.kind() as usize,
        notes,
    })
}

#[cfg(test)]
mod tests {
    use super::super::OPTIONS;
    use super::*;
    use crate::random::Rng;
    use crate::terminal::User as _;
    use tidemark_core::{OptionValues, Source};

    /// A run has its mix and its rate from the first second: of 21 seconds a cycle (5.2.5.7).
    #[test]
    fn a_run_begins_in_the_midst_of_things() {
        let mut values = OptionValues::defaults([OPTIONS]);
        values.set("wait", "on", Source::CommandLine).unwrap();
        let settings = Arc::new(Settings::new(&values).unwrap());
        let (terminals, horizon) = (20_000, 5.0);
        let mut share = Rng::of(&[9]);
        let mut counts = [0u32; 5];
        for number in 0..terminals {
            let mut terminal = Terminal::new(Arc::clone(&settings), number, terminals, 1);
            // As the engine does: what is left of the pause is any share of it.
            let mut now = terminal.pause().as_secs_f64() * share.unit();
            while now < horizon {
                let kind = terminal.next.take().unwrap();
                counts[kind as usize] += 1;
                terminal.last = Some(kind);
                now += terminal.pause().as_secs_f64();
            }
        }
        let all: u32 = counts.iter().sum();
        let expected = terminals as f64 * horizon / 20.99;
        assert!((f64::from(all) / expected - 1.0).abs() < 0.05, "{all}");
        for (count, weight) in counts.iter().zip(settings.weight) {
            let share = 100.0 * f64::from(*count) / f64::from(all);
            let off = (share - f64::from(weight)).abs();
            assert!(off < 1.5, "{counts:?}: {share} % for {weight} %");
        }
    }
}
