//! What a study may ask of the commands.

use crate::exit::Failure;
use crate::frontend::{self, StudyWords};
use tidemark_study::{Commands, Family, Phase};

/// The commands of this program.
pub struct Vocabulary;

/// What a family's command knows; nothing of one that has no command here.
fn words(family: &Family) -> Option<StudyWords> {
    frontend::find(family.command.word)?.study
}

impl Commands for Vocabulary {
    fn takes(&self, family: &Family, phase: Phase, option: &str) -> bool {
        words(family).is_some_and(|w| (w.takes)(phase, option))
    }

    fn shapes(&self, family: &Family, option: &str) -> bool {
        words(family).is_some_and(|w| (w.shapes)(option))
    }

    fn is_property(&self, family: &Family, option: &str) -> bool {
        words(family).is_some_and(|w| (w.is_property)(option))
    }

    fn check(&self, words: &[String]) -> Result<(), String> {
        checked(words).map_err(|failure| failure.message)
    }
}

fn checked(words: &[String]) -> Result<(), Failure> {
    // What will be started has no address yet.
    let plain = |word: &String| match word.strip_prefix("--target=up:") {
        Some(engine) if engine.starts_with("postgres") => "--target=postgres://u@h/d".into(),
        Some(_) => "--target=mysql://u@h/d".into(),
        None => word.clone(),
    };
    let words: Vec<String> = words.iter().map(plain).collect();
    let (first, rest) = words.split_first().unzip();
    let found = first.and_then(|word| frontend::find(word)?.study);
    match found.zip(rest) {
        Some((found, rest)) => (found.check)(rest),
        None => Err(Failure::usage("no command of a study")),
    }
}
