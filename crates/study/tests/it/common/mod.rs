//! Commands that take what the tests' studies ask of them.
#![allow(dead_code)]

use tidemark_core::OptionValues;
use tidemark_study::{Commands, Family, JobKind, StepCommand, Study, StudyPlan, parse, parse_for};

pub struct Known;

const SHAPES: &[&str] = &["tables", "table-size", "warehouses", "sf", "recordcount"];

impl Commands for Known {
    fn takes(&self, _: &Family, phase: JobKind, option: &str) -> bool {
        match option {
            "wait" => phase == JobKind::Run,
            "parts" => phase == JobKind::Load,
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

    fn job_key(&self, option: &str) -> Option<&'static str> {
        match option {
            "threads" => Some("load.terminals"),
            "out" => Some("outputs.record"),
            "mysql-password" => Some("target.password"),
            "price" => Some("tool.settings.price"),
            _ => None,
        }
    }

    fn options(&self, step: &StepCommand, _: &str) -> Result<OptionValues, String> {
        for option in &step.options {
            let said = format!("--{}={}", option.name, option.value);
            if said.starts_with("--rate=9") {
                return Err(format!("{said}: must be less"));
            }
            if said.contains("tabel") {
                return Err(format!("unknown option {said}"));
            }
        }
        Ok(OptionValues::default())
    }
}

pub fn study(text: &str) -> Study {
    parse(text).unwrap_or_else(|e| panic!("{e}"))
}

pub fn plan(text: &str) -> (Study, StudyPlan) {
    let study = study(text);
    let plan = StudyPlan::new(&study, &Known).unwrap_or_else(|e| panic!("{e}"));
    (study, plan)
}

/// What is wrong with a text, a line each.
pub fn wrong(text: &str) -> String {
    match parse_for(text, &Known) {
        Err(e) => e.told("f"),
        Ok(study) => match StudyPlan::new(&study, &Known) {
            Err(e) => e.told("f"),
            Ok(_) => panic!("nothing is wrong with {text}"),
        },
    }
}
