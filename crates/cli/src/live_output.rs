//! Where a command prints while its run goes on: the lines of the tool it stands for, and
//! Tidemark's own beside them. While the terminal shows a view, lines wait for its end.

use indicatif::{ProgressBar, ProgressDrawTarget};
use std::collections::VecDeque;
use std::io::{ErrorKind, IsTerminal, Write};

/// Lines that wait for the view's end; of more, those before them are left out.
const MOST_HELD: usize = 1000;

/// Two places for lines, which may be one, and a progress bar below them.
pub struct LiveOutput<'a> {
    out: &'a mut dyn Write,
    /// `None` is the same place.
    aside: Option<&'a mut dyn Write>,
    bar: ProgressBar,
    held: HeldLines,
}

/// Lines that the view keeps off the terminal.
#[derive(Default)]
struct HeldLines {
    /// Whether there is a view.
    on: bool,
    lines: VecDeque<(LineKind, String)>,
    left_out: u64,
}

/// For whom a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineKind {
    Out,
    Aside,
}

impl<'a> LiveOutput<'a> {
    /// One place for all lines.
    pub fn one(out: &'a mut dyn Write, bar: ProgressBar) -> Self {
        Self::new(out, None, bar)
    }

    /// `out` for the lines of the tool, `aside` for Tidemark's.
    pub fn two(out: &'a mut dyn Write, aside: &'a mut dyn Write, bar: ProgressBar) -> Self {
        Self::new(out, Some(aside), bar)
    }

    fn new(out: &'a mut dyn Write, aside: Option<&'a mut dyn Write>, bar: ProgressBar) -> Self {
        Self {
            out,
            aside,
            bar,
            held: HeldLines::default(),
        }
    }

    /// Prints a line of the tool whose words are used.
    pub fn say(&mut self, text: &str) {
        self.line(LineKind::Out, text);
    }

    /// Prints a line that this tool has not.
    pub fn say_aside(&mut self, text: &str) {
        self.line(LineKind::Aside, text);
    }

    /// The place of Tidemark's own lines, when the run is over.
    pub fn aside(&mut self) -> &mut dyn Write {
        match &mut self.aside {
            Some(aside) => &mut **aside,
            None => &mut *self.out,
        }
    }

    /// The bar that people see who wait for lines.
    pub fn bar(&self) -> &ProgressBar {
        &self.bar
    }

    /// A view takes the terminal: lines wait, but for those that go to a file or a pipe.
    pub fn hold(&mut self) {
        self.held.on = true;
        self.bar.set_draw_target(ProgressDrawTarget::hidden());
    }

    /// The view has left the terminal. What waited is printed; the run may still go on.
    pub fn release(&mut self) {
        if !std::mem::take(&mut self.held.on) {
            return;
        }
        let left_out = std::mem::take(&mut self.held.left_out);
        if left_out > 0 {
            self.write(
                LineKind::Aside,
                &format!("({left_out} earlier lines are omitted)\n"),
            );
        }
        for (place, text) in std::mem::take(&mut self.held.lines) {
            self.write(place, &text);
        }
        self.bar
            .set_draw_target(crate::progress::where_bars_are_drawn());
    }

    fn line(&mut self, place: LineKind, text: &str) {
        // Nothing would draw the bar all the same, and a view would leave it there.
        if text.is_empty() {
            return;
        }
        // Without a place of its own, what stands aside goes where the others go.
        let to_file =
            (place == LineKind::Out || self.aside.is_none()) && !std::io::stdout().is_terminal();
        if !self.held.on || to_file {
            return self.write(place, text);
        }
        if self.held.lines.len() == MOST_HELD {
            self.held.lines.pop_front();
            self.held.left_out += 1;
        }
        self.held.lines.push_back((place, text.into()));
    }

    fn write(&mut self, place: LineKind, text: &str) {
        let bar = self.bar.clone();
        let to: &mut dyn Write = match (place, &mut self.aside) {
            (LineKind::Aside, Some(aside)) => &mut **aside,
            _ => &mut *self.out,
        };
        bar.suspend(|| {
            let said = to.write_all(text.as_bytes()).and_then(|()| to.flush());
            // Nobody reads any more: the run ends as by Ctrl-C, and what was measured is kept.
            if said.is_err_and(|e| e.kind() == ErrorKind::BrokenPipe) {
                crate::interrupt::handle().stop();
            }
        });
    }
}

impl Drop for LiveOutput<'_> {
    fn drop(&mut self) {
        self.release();
        self.bar.finish_and_clear();
    }
}
