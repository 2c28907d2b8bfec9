//! Views that fill the terminal: of a run, of streams of queries, of a study.

mod chart;
mod draw;
mod picture;
mod queries;
mod screen;
mod study;
mod table;

pub use draw::draw;
pub use picture::Picture;
pub use queries::{Asking, QueriesPicture};
pub use screen::{restore_terminal, terminal_is_taken};
pub use study::{NowRunning, StudyInfo, StudyPicture};

use ratatui::Frame;
use ratatui::crossterm::event::{
    self, Event as Input, KeyCode, KeyEvent, KeyEventKind, KeyModifiers,
};
use screen::Screen;
use std::fmt;
use std::io;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use tidemark_observe::{ClientLoad, HostSampler};

/// Between two pictures at least.
const SHORTEST_FRAME: Duration = Duration::from_millis(250);
/// Between two pictures at most: time goes on where nothing else does.
const LONGEST_FRAME: Duration = Duration::from_secs(1);
/// Between two looks at the machine at least: loads of less time are chance.
const SHORTEST_LOOK: Duration = Duration::from_millis(900);
/// How long keys are waited for before anything else is looked at.
const KEYS: Duration = Duration::from_millis(100);

/// What keys do, and what the view should know of the process.
pub struct Controls {
    /// What Ctrl-C does: while the view is there the terminal sends no signal for it.
    pub interrupt: Box<dyn Fn() + Send>,
    /// Whether an end was asked for.
    pub is_ending: Box<dyn Fn() -> bool + Send>,
}

/// What a view shows. It changes as it is told, and must stay small however long that goes on.
pub trait Scene: Send + 'static {
    /// How long the view is there, and whether an end was asked for.
    fn set_time(&mut self, elapsed: Duration, is_ending: bool);

    /// What the machine had to do.
    fn set_host(&mut self, host: ClientLoad);

    /// Draws all that the frame has room for.
    fn draw(&self, frame: &mut Frame<'_>);
}

type Change<S> = Box<dyn FnOnce(&mut S) + Send>;

/// A view, drawn by a thread of its own at most four times a second. Who tells it something is never
/// held up.
pub struct View<S: Scene> {
    /// Nothing is sent any more when the view is to go.
    changes: Option<Sender<Change<S>>>,
    thread: Option<JoinHandle<()>>,
}

impl<S: Scene> fmt::Debug for View<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_open = self.is_open();
        f.debug_struct("View").field("is_open", &is_open).finish()
    }
}

impl<S: Scene> View<S> {
    /// Takes the terminal of the error output; `None` where there is none that can be had.
    pub fn open(scene: S, controls: Controls) -> Option<Self> {
        let screen = Screen::take()?;
        let (changes, told) = channel();
        let name = thread::Builder::new().name("view".into());
        let spawned = name.spawn(move || {
            let mut watching = Watching {
                scene,
                begun: Instant::now(),
                sampler: HostSampler::new(),
                looked: Instant::now(),
                controls,
                screen,
            };
            // A terminal that fails is left, and what is watched goes on with its lines.
            let _left = watching.watch(&told);
        });
        Some(Self {
            changes: Some(changes),
            // Without a thread there is no screen either: it went with the closure.
            thread: Some(spawned.ok()?),
        })
    }

    /// Whether it is still there: the user may have left it.
    pub fn is_open(&self) -> bool {
        self.thread.as_ref().is_some_and(|t| !t.is_finished())
    }

    /// Changes what is shown.
    pub fn change(&self, change: impl FnOnce(&mut S) + Send + 'static) {
        if let Some(changes) = &self.changes {
            // Who has left it needs nothing.
            let _nobody = changes.send(Box::new(change));
        }
    }
}

impl<S: Scene> Drop for View<S> {
    /// Gives the terminal back.
    fn drop(&mut self) {
        self.changes = None;
        if let Some(thread) = self.thread.take() {
            // Should it have panicked, the hook has given the terminal back.
            let _ended = thread.join();
        }
    }
}

/// The thread's side.
struct Watching<S> {
    scene: S,
    begun: Instant,
    sampler: HostSampler,
    looked: Instant,
    controls: Controls,
    screen: Screen,
}

impl<S: Scene> Watching<S> {
    /// Until the user leaves, or nothing more is to come.
    fn watch(&mut self, told: &Receiver<Change<S>>) -> io::Result<()> {
        let mut drawn: Option<Instant> = None;
        let mut changed = true;
        loop {
            loop {
                match told.try_recv() {
                    Ok(change) => {
                        change(&mut self.scene);
                        changed = true;
                    }
                    Err(TryRecvError::Empty) => break,
                    Err(TryRecvError::Disconnected) => return Ok(()),
                }
            }
            let since = drawn.map_or(Duration::MAX, |at| at.elapsed());
            if since >= LONGEST_FRAME || (changed && since >= SHORTEST_FRAME) {
                if self.looked.elapsed() >= SHORTEST_LOOK {
                    self.scene.set_host(self.sampler.sample());
                    self.looked = Instant::now();
                }
                let is_ending = (self.controls.is_ending)();
                self.scene.set_time(self.begun.elapsed(), is_ending);
                self.screen.draw(|frame| self.scene.draw(frame))?;
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
