//! A view of the run that fills the terminal.

mod chart;
mod draw;
mod picture;
mod screen;
mod table;

pub use draw::draw;
pub use picture::Picture;
pub use screen::{restore_terminal, terminal_is_taken};

use crate::RunInfo;
use ratatui::crossterm::event::{
    self, Event as Input, KeyCode, KeyEvent, KeyEventKind, KeyModifiers,
};
use screen::Screen;
use std::io;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use tidemark_core::record::{ErrorCount, Interval};
use tidemark_observe::HostSampler;

/// Between two pictures at least.
const SHORTEST_FRAME: Duration = Duration::from_millis(250);
/// Between two pictures at most: time goes on where nothing else does.
const LONGEST_FRAME: Duration = Duration::from_secs(1);
/// How long keys are waited for before anything else is looked at.
const KEYS: Duration = Duration::from_millis(100);

/// What keys do, and what the view should know of the process.
pub struct Controls {
    /// What Ctrl-C does: while the view is there the terminal sends no signal for it.
    pub interrupt: Box<dyn Fn() + Send>,
    /// Whether an end was asked for.
    pub is_ending: Box<dyn Fn() -> bool + Send>,
}

/// What the view is told.
enum Event {
    Errors(Vec<ErrorCount>),
    Interval(Box<Interval>),
}

/// A view of one run, drawn by a thread of its own at most four times a second. It keeps the last
/// minutes and sums, however long the run is.
#[derive(Debug)]
pub struct View {
    /// Nothing is sent any more when the view is to go.
    events: Option<Sender<Event>>,
    thread: Option<JoinHandle<()>>,
}

impl View {
    /// Takes the terminal of the error output; `None` where there is none that can be had.
    pub fn open(info: RunInfo, controls: Controls) -> Option<Self> {
        let screen = Screen::take()?;
        let (events, told) = channel();
        let name = thread::Builder::new().name("view".into());
        let spawned = name.spawn(move || {
            let mut watching = Watching {
                picture: Picture::new(info),
                begun: Instant::now(),
                sampler: HostSampler::new(),
                controls,
                screen,
            };
            // A terminal that fails is left, and the run goes on with its lines.
            let _left = watching.watch(&told);
        });
        Some(Self {
            events: Some(events),
            // Without a thread there is no screen either: it went with the closure.
            thread: Some(spawned.ok()?),
        })
    }

    /// Whether it is still there: the user may have left it.
    pub fn is_open(&self) -> bool {
        self.thread.as_ref().is_some_and(|t| !t.is_finished())
    }

    /// Errors were counted.
    pub fn errors(&self, errors: &[ErrorCount]) {
        self.tell(Event::Errors(errors.to_vec()));
    }

    /// An interval ended.
    pub fn interval(&self, interval: &Interval) {
        self.tell(Event::Interval(Box::new(interval.clone())));
    }

    fn tell(&self, event: Event) {
        if let Some(events) = &self.events {
            // Who has left it needs nothing.
            let _nobody = events.send(event);
        }
    }
}

impl Drop for View {
    /// Gives the terminal back.
    fn drop(&mut self) {
        self.events = None;
        if let Some(thread) = self.thread.take() {
            // Should it have panicked, the hook has given the terminal back.
            let _ended = thread.join();
        }
    }
}

/// The thread's side.
struct Watching {
    picture: Picture,
    begun: Instant,
    sampler: HostSampler,
    controls: Controls,
    screen: Screen,
}

impl Watching {
    /// Until the user leaves, or nothing more is to come.
    fn watch(&mut self, told: &Receiver<Event>) -> io::Result<()> {
        let mut drawn: Option<Instant> = None;
        let mut changed = true;
        loop {
            loop {
                match told.try_recv() {
                    Ok(Event::Errors(errors)) => self.picture.errors(&errors),
                    Ok(Event::Interval(interval)) => {
                        self.picture.interval(&interval);
                        self.picture.set_host(self.sampler.sample());
                        changed = true;
                    }
                    Err(TryRecvError::Empty) => break,
                    Err(TryRecvError::Disconnected) => return Ok(()),
                }
            }
            let since = drawn.map_or(Duration::MAX, |at| at.elapsed());
            if since >= LONGEST_FRAME || (changed && since >= SHORTEST_FRAME) {
                let is_ending = (self.controls.is_ending)();
                self.picture.set_time(self.begun.elapsed(), is_ending);
                self.screen.draw(|frame| draw(frame, &self.picture))?;
                (drawn, changed) = (Some(Instant::now()), false);
            }
            match next_input()? {
                Some(Input::Key(key)) if leaves(key) => return Ok(()),
                Some(Input::Key(key)) if is_ctrl_c(key) => {
                    (self.controls.interrupt)();
                    changed = true;
                }
                Some(Input::Resize(..)) => changed = true,
                _ => {}
            }
        }
    }
}

fn next_input() -> io::Result<Option<Input>> {
    Ok(match event::poll(KEYS)? {
        true => Some(event::read()?),
        false => None,
    })
}

fn leaves(key: KeyEvent) -> bool {
    key.kind == KeyEventKind::Press && matches!(key.code, KeyCode::Char('q' | 'Q') | KeyCode::Esc)
}

fn is_ctrl_c(key: KeyEvent) -> bool {
    key.kind == KeyEventKind::Press
        && key.code == KeyCode::Char('c')
        && key.modifiers.contains(KeyModifiers::CONTROL)
}
