//! What a study may ask of the commands.

use crate::exit::Failure;
use crate::gotpc::{Command, Tool};
use crate::{sysbench, tpcc, tpch, ycsb};
use tidemark_study::{Commands, Family, Phase};

/// The commands of this program.
pub struct Vocabulary;

fn tool(family: Family) -> Option<&'static Tool> {
    match family {
        Family::Tpcc => Some(&tpcc::TOOL),
        Family::Tpch => Some(&tpch::TOOL),
        Family::Sysbench | Family::Ycsb => None,
    }
}

impl Commands for Vocabulary {
    fn takes(&self, family: Family, phase: Phase, option: &str) -> bool {
        match (family, tool(family)) {
            (_, Some(tool)) => {
                let command = match phase {
                    Phase::Load => Command::Prepare,
                    Phase::Run => Command::Run,
                };
                // A build without the workload says so when its command is looked at.
                tool.takes(command, option).unwrap_or(false)
            }
            (Family::Ycsb, _) => {
                phase == Phase::Run || option == "batch-size" || self.shapes(family, option)
            }
            _ => sysbench::takes(option),
        }
    }

    fn shapes(&self, family: Family, option: &str) -> bool {
        match (family, tool(family)) {
            (_, Some(tool)) => tool.shapes.contains(&option),
            (Family::Ycsb, _) => option == "table" || ycsb::SHAPES.contains(&option),
            _ => sysbench::SHAPES.contains(&option),
        }
    }

    fn is_property(&self, family: Family, option: &str) -> bool {
        family == Family::Ycsb && !ycsb::flags::is_flag(option)
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
    match words
        .split_first()
        .map(|(first, rest)| (first.as_str(), rest))
    {
        Some(("sysbench", rest)) => sysbench::check(rest),
        Some(("tpcc", rest)) => tpcc::TOOL.check(rest),
        Some(("tpch", rest)) => tpch::TOOL.check(rest),
        Some(("ycsb", rest)) => ycsb::check(rest),
        _ => Err(Failure::usage("no command of a study")),
    }
}
