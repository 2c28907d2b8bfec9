//! Each statement of each workload, on the smallest tables that it can have.

use super::basics::{KnownTarget, class_of, said};
use super::own_tables::{self, OnOwnTables};
use super::proof::{self, Proven, Unproven};
use super::scratch::{NoScratch, Scratch};
use super::told::{Area, CheckLevel, Teller};
use crate::exit::ExitCode;
use crate::interrupt;
use crate::messages::reason;
use crate::texts::doctor_statements as texts;
use serde_json::Map;
use std::sync::Arc;
use tidemark_core::{OptionValues, Source};
use tidemark_drivers::{Connector, Dialect};
use tidemark_engine::{EngineError, LoadObserver, LoadSpec, Replace, drop_tables, prepare};
use tidemark_runtime::block_on;
use tidemark_workloads::{Definition, TablePlan, Workload, registry, tpch};

/// Options by name that make a workload small, and have each of its transactions and statements executed.
/// A workload that has none of them is of no family that is known here.
const SIZES: &[(&str, &str)] = &[
    ("tables", "1"),
    ("table-size", "300"),
    ("recordcount", "300"),
    ("fieldcount", "3"),
    ("maxscanlength", "10"),
    ("warehouses", "1"),
    ("weight", "20,20,20,20,20"),
    ("sf", "0.01"),
    ("scale", "1"),
    // Only prepared statements are each told of.
    ("protocol", "prepared"),
    ("readproportion", "0.2"),
    ("updateproportion", "0.2"),
    ("insertproportion", "0.2"),
    ("scanproportion", "0.2"),
    ("readmodifywriteproportion", "0.2"),
];
/// TPC-H's option of its size.
const SCALE: &str = "sf";
/// Sessions that load.
const THREADS: usize = 2;

/// Proves the statements of each workload; the exit code.
pub fn examine(connector: &Connector, known: &KnownTarget, teller: &Teller) -> ExitCode {
    let lang = teller.lang;
    let why_not = match (connector.target().is_read_only(), known.shares_sessions) {
        (true, _) => Some(texts::read_only(lang)),
        // A schema is chosen by a setting, which would stay in a session that is others' next.
        (_, true) => Some(texts::pooled(lang)),
        _ => None,
    };
    if let Some(says) = why_not {
        teller.tell(Area::Statements, CheckLevel::Skipped, "statements", says);
        return ExitCode::Success;
    }
    interrupt::listen_saying("dropping what doctor created; press Ctrl-C again to quit");
    let connector = match known.keeps_statements {
        true => connector.clone(),
        false => connector.clone().as_text(),
    };
    let mut examining = Examining {
        dialect: Dialect::new(known.server.engine),
        teller,
        loaded: None,
        has_failed: false,
    };
    match Scratch::make(&connector) {
        Ok(scratch) => {
            if scratch.is_left_over {
                clean(&scratch.connector);
            }
            examining.all(|this, small| this.in_scratch(&scratch.connector, small));
            let held = interrupt::hold();
            examining.drop_loaded(&scratch.connector);
            examining.remove(scratch);
            drop(held);
        }
        Err(why) => {
            examining.tell_missing(&connector, &why);
            if !matches!(why, NoScratch::Failed(_)) && known.keeps_statements {
                examining.all(|this, small| this.on_own_tables(&connector, small));
            }
        }
    }
    match (interrupt::handle().is_stopped(), examining.has_failed) {
        (true, _) => ExitCode::Interrupted,
        (_, true) => ExitCode::Check,
        _ => ExitCode::Success,
    }
}

/// Drops what a doctor left that was killed. A name that another workload's table has is left to that.
fn clean(connector: &Connector) {
    for small in registry().iter().filter_map(Small::new) {
        let stop = interrupt::handle();
        let _anothers = drop_tables(connector, &small.workload, 1, false, &stop);
    }
}

/// A workload of the smallest size.
struct Small {
    name: &'static str,
    workload: Arc<dyn Workload>,
    /// Of one whose transactions are queries.
    scale: Option<f64>,
}

impl Small {
    /// `None` of a family that is not known here.
    fn new(definition: &Definition) -> Option<Self> {
        let mut values: OptionValues = definition.defaults();
        let mut is_known = false;
        for (name, value) in SIZES {
            let mut own = definition.options.iter().copied().flatten();
            if own.any(|option| option.name == *name) {
                values.set(name, value, Source::CommandLine).ok()?;
                is_known = true;
            }
        }
        // Its tables are empty whatever is asked for.
        if !is_known && definition.name != "bulk_insert" {
            return None;
        }
        let is_tpch = definition.family == tpch::FAMILY.name;
        Some(Self {
            name: definition.name,
            workload: (definition.build)(&values).ok()?,
            scale: is_tpch.then(|| values.float(SCALE)),
        })
    }
}

/// Tables that are loaded.
type Loaded = (Arc<dyn Workload>, Vec<TablePlan>);

struct Examining<'t> {
    dialect: Dialect,
    teller: &'t Teller,
    loaded: Option<Loaded>,
    has_failed: bool,
}

impl Examining<'_> {
    fn all(&mut self, mut prove: impl FnMut(&mut Self, &Small)) {
        for small in registry().iter().filter_map(Small::new) {
            if interrupt::handle().is_stopped() {
                return;
            }
            prove(self, &small);
        }
    }

    /// On tables of doctor's own.
    fn in_scratch(&mut self, connector: &Connector, small: &Small) {
        let lang = self.teller.lang;
        let plans = match small.workload.tables(&self.dialect, 1) {
            Ok(plans) => plans,
            // What the engine hasn't got is no fault of the target's.
            Err(error) => {
                let says = texts::unsupported(lang, small.name, error);
                return self.tell(CheckLevel::Skipped, small.name, &says);
            }
        };
        if self
            .loaded
            .as_ref()
            .is_none_or(|(_, there)| *there != plans)
        {
            self.drop_loaded(connector);
            let spec = LoadSpec {
                threads: THREADS,
                replace: Replace::Made,
                ..LoadSpec::default()
            };
            let stop = interrupt::handle();
            self.loaded = Some((Arc::clone(&small.workload), plans));
            let loaded = prepare(connector, &small.workload, &spec, &stop, &mut Silent);
            match loaded.map_err(|failure| failure.error) {
                Ok(_) => {}
                Err(EngineError::Interrupted) => return,
                Err(error) => {
                    self.drop_loaded(connector);
                    let says =
                        texts::not_loaded(lang, small.name, reason(&error.to_string(), lang));
                    return self.fail(small.name, &says);
                }
            }
        }
        let (connector, workload) = (connector.clone(), Arc::clone(&small.workload));
        let proven = match small.scale {
            Some(scale) => block_on(proof::queries(connector, workload, scale)),
            None => block_on(proof::transactions(connector, workload)),
        };
        match proven {
            _ if interrupt::handle().is_stopped() => {}
            Ok(Ok(proven)) => self.tell_proven(small.name, proven),
            Ok(Err(unproven)) => self.tell_unproven(small.name, &unproven),
            Err(error) => self.fail(
                small.name,
                &texts::not_loaded(lang, small.name, reason(&error.to_string(), lang)),
            ),
        }
    }

    /// On the workload's own tables.
    fn on_own_tables(&mut self, connector: &Connector, small: &Small) {
        let lang = self.teller.lang;
        let workload = Arc::clone(&small.workload);
        match block_on(own_tables::prepare(
            connector.clone(),
            workload,
            small.scale,
        )) {
            Ok(Ok(OnOwnTables::Prepared(proven))) => self.tell_proven(small.name, proven),
            Ok(Ok(OnOwnTables::NotLoaded)) => {
                let says = texts::no_tables(lang, small.name);
                self.tell(CheckLevel::Skipped, small.name, &says);
            }
            Ok(Err(unproven)) => self.tell_unproven(small.name, &unproven),
            Err(error) => self.fail(
                small.name,
                &texts::not_loaded(lang, small.name, reason(&error.to_string(), lang)),
            ),
        }
    }

    fn drop_loaded(&mut self, connector: &Connector) {
        let Some((workload, _)) = self.loaded.take() else {
            return;
        };
        // An end that the user asked for does not keep doctor from dropping what it made.
        let stop = tidemark_engine::StopHandle::new();
        if let Err(failure) = drop_tables(connector, &workload, 1, false, &stop) {
            let (lang, why) = (self.teller.lang, failure.to_string());
            let says = texts::left(lang, workload.name(), reason(&why, lang));
            self.fail(workload.name(), &says);
        }
    }

    fn remove(&mut self, scratch: Scratch) {
        let (lang, name) = (self.teller.lang, scratch.name.clone());
        match scratch.remove() {
            Ok(true) => {}
            Ok(false) => {
                let says = texts::not_empty(lang, name);
                self.tell(CheckLevel::Note, "scratch", &says);
            }
            Err(why) => {
                let says = texts::left(lang, name, reason(&error_of(&why), lang));
                self.fail("scratch", &says);
            }
        }
    }

    /// Why there is no place for doctor's tables.
    fn tell_missing(&mut self, connector: &Connector, why: &NoScratch) {
        let lang = self.teller.lang;
        let (level, says) = match why {
            NoScratch::Refused {
                statement,
                error,
                grant,
            } => (
                CheckLevel::Note,
                texts::no_place(lang, statement, reason(&error.to_string(), lang), grant),
            ),
            NoScratch::NoFolder { folder, error } => (
                CheckLevel::Note,
                texts::no_folder(lang, folder, reason(error, lang)),
            ),
            NoScratch::Foreign(name) => (CheckLevel::Note, texts::foreign(lang, name)),
            NoScratch::Busy => (CheckLevel::Note, texts::busy(lang).into()),
            NoScratch::Failed(_) => {
                let says =
                    texts::no_session(lang, connector.target(), reason(&error_of(why), lang));
                return self.fail("scratch", &says);
            }
        };
        self.tell(level, "scratch", &says);
    }

    fn tell_proven(&self, workload: &str, proven: Proven) {
        let Proven { executed, prepared } = proven;
        let lang = self.teller.lang;
        let says = match (executed, prepared) {
            (0, prepared) => texts::prepared(lang, workload, prepared),
            (executed, 0) => texts::executed(lang, workload, executed),
            (executed, more) => texts::executed_not_all(lang, workload, executed, more),
        };
        let mut figures = Map::new();
        figures.insert("executed".into(), executed.into());
        figures.insert("prepared".into(), prepared.into());
        let (area, level) = (Area::Statements, CheckLevel::Ok);
        self.teller.tell_with(area, level, workload, &says, figures);
    }

    fn tell_unproven(&mut self, workload: &str, unproven: &Unproven) {
        let lang = self.teller.lang;
        let says = match unproven {
            Unproven::Check(name, rows) => texts::violated(lang, workload, name, rows),
            Unproven::Statement(statement, error) if statement.is_empty() => {
                texts::no_session(lang, workload, said(lang, error))
            }
            Unproven::Statement(statement, error) => {
                let class = class_of(lang, error);
                texts::statement_failed(lang, workload, statement, said(lang, error), class)
            }
        };
        let mut figures = Map::new();
        if let Unproven::Statement(statement, error) = unproven {
            figures.insert("statement".into(), statement.as_str().into());
            figures.insert("error".into(), error.to_string().into());
            figures.insert("class".into(), error.class.to_string().into());
        }
        self.has_failed = true;
        let (area, level) = (Area::Statements, CheckLevel::Failed);
        self.teller.tell_with(area, level, workload, &says, figures);
    }

    fn tell(&self, level: CheckLevel, check: &str, says: &str) {
        self.teller.tell(Area::Statements, level, check, says);
    }

    fn fail(&mut self, check: &str, says: &str) {
        self.has_failed = true;
        self.tell(CheckLevel::Failed, check, says);
    }
}

fn error_of(why: &NoScratch) -> String {
    match why {
        NoScratch::Failed(error) => error.to_string(),
        other => format!("{other:?}"),
    }
}

/// Tells nothing of a load.
struct Silent;

impl LoadObserver for Silent {
    fn creating(&mut self, _table: &str, _rows: u64, _rows_there: u64) {}
    fn progress(&mut self, _done: u64, _total: u64) {}
    fn indexing(&mut self, _table: &str) {}
    fn verifying(&mut self) {}
}
