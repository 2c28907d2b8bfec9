//! Progress bars with rate and time left; nothing when the output is not a terminal.

use crate::texts::progress as texts;
use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt;
use std::io::IsTerminal;
use tidemark_core::RunSpec;
use tidemark_report::Lang;

/// Standard error, when that is a terminal.
pub fn where_bars_are_drawn() -> ProgressDrawTarget {
    if std::io::stderr().is_terminal() {
        ProgressDrawTarget::stderr_with_hz(5)
    } else {
        ProgressDrawTarget::hidden()
    }
}

/// A bar over a known number of steps, on standard error.
pub fn bar(total: u64, unit: &str, lang: Lang) -> ProgressBar {
    from(0, total, unit, lang)
}

/// A bar over a known number of steps of which the first `done` were done before; its rate and the
/// time left are of the others.
pub fn from(done: u64, total: u64, unit: &str, lang: Lang) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let left = texts::left_time(lang, "{eta}");
    let template = format!(
        "{{msg}} [{{bar:30}}] {{percent:>3}} %  {{human_pos}}/{{human_len}} {unit}  \
         {{rate}}  {left}"
    );
    let bar = ProgressBar::with_draw_target(Some(total), where_bars_are_drawn());
    // The template is ours and constant but for the unit's name; the default style is no loss.
    if let Ok(style) = ProgressStyle::with_template(&template) {
        let style = style.with_key("rate", |state: &ProgressState, out: &mut dyn fmt::Write| {
            // Nobody reads the sixth digit of an estimate, and a formatter has nobody to tell.
            let _unwritable = write!(out, "{}/s", HumanCount(state.per_sec().round() as u64));
        });
        bar.set_style(style.progress_chars("█▉▊▋▌▍▎▏ "));
    }
    // A position draws the bar, which may have to wait for its terminal.
    if done > 0 {
        bar.set_position(done);
        bar.reset_eta();
    }
    bar
}

/// A bar over a whole run, warm-up included.
pub fn of_run(spec: &RunSpec, lang: Lang) -> ProgressBar {
    let length = crate::pacing::length(spec).map_or(0, |t| (t + spec.warmup).as_secs());
    seconds(length, lang)
}

/// A bar over a time in seconds, moved in milliseconds; 0 seconds is a time without end.
pub fn seconds(seconds: u64, lang: Lang) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let (length, template) = match seconds {
        0 => (None, "{spinner} {elapsed}  {msg}".to_string()),
        s => (
            Some(s * 1000),
            format!(
                "[{{bar:30}}] {{elapsed}} / {{len}}  {}  {{msg}}",
                texts::left_time(lang, "{eta}")
            ),
        ),
    };
    let bar = ProgressBar::with_draw_target(length, where_bars_are_drawn());
    let template = template.replace("{len}", &format!("{seconds}s"));
    if let Ok(style) = ProgressStyle::with_template(&template) {
        bar.set_style(style.progress_chars("█▉▊▋▌▍▎▏ "));
    }
    bar
}
