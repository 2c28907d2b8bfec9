//! Terminals that share fewer sessions.

use crate::control::Control;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::rc::Rc;
use std::time::{Duration, Instant};
use tidemark_core::ThinkTime;
use tidemark_runtime::Parking;
use tidemark_workloads::Terminal;

/// The terminals of one executor, and which of them wants a session.
///
/// A terminal is a few hundred bytes and no task of its own: a hundred thousand of them fit where
/// ten thousand sessions do not.
pub(crate) struct Pool {
    state: RefCell<PoolState>,
    /// Sessions without a terminal.
    free: Parking,
    /// The task that ends the terminals' thinking.
    clock: Parking,
}

struct PoolState {
    terminals: Vec<Option<Box<Terminal>>>,
    /// When each thinking terminal wants its next transaction.
    thinking: BinaryHeap<Reverse<(Instant, u32)>>,
    /// Terminals that want a session, the longest waiting first.
    ready: VecDeque<(Instant, u32)>,
    think: Think,
    random: SmallRng,
    /// No terminal below this number rests.
    rest: usize,
}

/// Who decides how long a terminal thinks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Think {
    /// The run: all terminals alike.
    Run(ThinkTime),
    /// Each terminal itself, by the transaction.
    Terminal,
}

impl Think {
    /// Whether there is any.
    pub fn is_any(self) -> bool {
        self != Think::Run(ThinkTime::None)
    }
}

/// A terminal on a session.
pub(crate) struct Seated {
    pub number: u32,
    pub terminal: Box<Terminal>,
    /// When it wanted the session.
    pub since: Instant,
    /// Whether the session was free then.
    pub awaited: bool,
}

impl Pool {
    #[allow(clippy::vec_box)] // a terminal moves to its session and back
    pub fn new(terminals: Vec<Box<Terminal>>, think: Think, seed: u64) -> Self {
        Self {
            state: RefCell::new(PoolState {
                thinking: BinaryHeap::with_capacity(if think.is_any() {
                    terminals.len()
                } else {
                    0
                }),
                ready: VecDeque::new(),
                terminals: terminals.into_iter().map(Some).collect(),
                think,
                random: SmallRng::seed_from_u64(seed),
                rest: 0,
            }),
            free: Parking::default(),
            clock: Parking::default(),
        }
    }

    /// Lets the terminals begin, each in the midst of its thinking: all at once would be a load
    /// that no user makes.
    pub fn start(&self) {
        let now = Instant::now();
        let mut state = self.state.borrow_mut();
        for number in 0..state.terminals.len() as u32 {
            let pause = state.first_pause(number);
            state.rest(number, now, pause);
        }
    }

    /// Waits for a terminal that wants a session; `None` when the run ended first.
    pub async fn take(&self, control: &Control) -> Option<Seated> {
        let mut awaited = false;
        while !control.is_over() {
            if let Some(seated) = self.state.borrow_mut().seat(awaited) {
                return Some(seated);
            }
            self.free.wait().await;
            awaited = true;
        }
        None
    }

    /// Gives a terminal back, which thinks until its next transaction from the moment that the last
    /// one ended for its user.
    pub fn put(&self, number: u32, mut terminal: Box<Terminal>, ended: Instant) {
        let mut state = self.state.borrow_mut();
        let pause = state.pause(&mut terminal);
        state.terminals[number as usize] = Some(terminal);
        state.rest = state.rest.min(number as usize);
        let first = state.thinking.peek().map(|Reverse((due, _))| *due);
        let due = state.rest(number, ended, pause);
        drop(state);
        if pause.is_zero() {
            self.free.call_one();
        } else if first.is_none_or(|first| due < first) {
            self.clock.call_one();
        }
    }

    /// A terminal that holds back what the run's end must still send.
    pub fn take_rest(&self) -> Option<Box<Terminal>> {
        let mut state = self.state.borrow_mut();
        while state.rest < state.terminals.len() {
            let number = state.rest;
            state.rest += 1;
            if let Some(terminal) = state.terminals[number].take() {
                return Some(terminal);
            }
        }
        None
    }

    /// Ends the terminals' thinking when it is time, until the run ends.
    pub async fn run_clock(self: Rc<Self>, control: &Control) {
        while !control.is_over() {
            let (ready, next) = self.state.borrow_mut().end_thinking(Instant::now());
            for _ in 0..ready {
                if !self.free.call_one() {
                    break;
                }
            }
            self.clock.wait_until(next).await;
        }
        while self.free.call_one() {}
    }
}

impl PoolState {
    /// The terminal that has waited longest.
    fn seat(&mut self, awaited: bool) -> Option<Seated> {
        let (since, number) = self.ready.pop_front()?;
        let terminal = self.terminals[number as usize].take()?;
        Some(Seated {
            number,
            terminal,
            since,
            awaited,
        })
    }

    /// Moves terminals that have thought to those that want a session; gives how many do, and when
    /// the next will.
    fn end_thinking(&mut self, now: Instant) -> (usize, Option<Instant>) {
        while let Some(&Reverse((due, number))) = self.thinking.peek()
            && due <= now
        {
            self.thinking.pop();
            self.ready.push_back((due, number));
        }
        let next = self.thinking.peek().map(|Reverse((due, _))| *due);
        (self.ready.len(), next)
    }

    fn rest(&mut self, number: u32, now: Instant, pause: Duration) -> Instant {
        let due = now + pause;
        if pause.is_zero() {
            self.ready.push_back((due, number));
        } else {
            self.thinking.push(Reverse((due, number)));
        }
        due
    }

    fn pause(&mut self, terminal: &mut Terminal) -> Duration {
        match self.think {
            Think::Terminal => terminal.pause(),
            Think::Run(think) => self.think(think),
        }
    }

    fn think(&mut self, think: ThinkTime) -> Duration {
        match think {
            ThinkTime::None => Duration::ZERO,
            ThinkTime::Constant(time) => time,
            // TPC-C 5.2.5.4: truncated at ten times the mean.
            ThinkTime::Exponential(mean) => {
                let factor = -(1.0 - self.random.random::<f64>()).ln();
                mean.mul_f64(factor.min(10.0))
            }
        }
    }

    /// What is left of a pause at a random moment.
    fn first_pause(&mut self, number: u32) -> Duration {
        let whole = match self.think {
            Think::Terminal => {
                let terminal = self.terminals.get_mut(number as usize);
                terminal.and_then(Option::as_mut).map(|t| t.pause())
            }
            Think::Run(ThinkTime::Constant(time)) => Some(time),
            // An exponential time has no memory.
            Think::Run(think) => return self.think(think),
        };
        let share = self.random.random::<f64>();
        whole.map_or(Duration::ZERO, |pause| pause.mul_f64(share))
    }
}
