//! Commands that take what the tests' studies ask of them.
#![allow(dead_code)]

use tidemark_study::{Commands, Family, Phase, Plan, Study, parse};

pub struct Known;

const SHAPES: &[&str] = &["tables", "table-size", "warehouses", "sf", "recordcount"];

impl Commands for Known {
    fn takes(&self, _: &Family, phase: Phase, option: &str) -> bool {
        match option {
            "wait" => phase == Phase::Run,
            "parts" => phase == Phase::Load,
            "range-size" | "query-timeout" | "find-max" => true,
            option => SHAPES.contains(&option),
        }
    }

    fn shapes(&self, _: &Family, option: &str) -> bool {
        SHAPES.contains(&option)
    }

    fn is_property(&self, family: &Family, _: &str) -> bool {
        family.name == "ycsb"
    }

    fn check(&self, words: &[String]) -> Result<(), String> {
        if let Some(rate) = words.iter().find(|w| w.starts_with("--rate=9")) {
            return Err(format!("{rate}: allowed is less"));
        }
        let wrong = words.iter().find(|w| w.contains("tabel"));
        wrong.map_or(Ok(()), |w| Err(format!("unknown option {w}")))
    }
}

pub fn study(text: &str) -> Study {
    parse(text).unwrap_or_else(|e| panic!("{e}"))
}

pub fn plan(text: &str) -> (Study, Plan) {
    let study = study(text);
    let plan = Plan::new(&study, &Known).unwrap_or_else(|e| panic!("{e}"));
    (study, plan)
}

/// What is wrong with a text, a line each.
pub fn wrong(text: &str) -> String {
    match parse(text) {
        Err(e) => e.told("f"),
        Ok(study) => match Plan::new(&study, &Known) {
            Err(e) => e.told("f"),
            Ok(_) => panic!("nothing is wrong with {text}"),
        },
    }
}
