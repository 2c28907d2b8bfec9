//! From the matrix to steps: which data are loaded when, and in which order runs are made.

use crate::command::{
    Commands, StepCommand, bulk_threads, global_of, load_command, load_options, run_command,
    session_of,
};
use crate::error::{Problem, StudyError};
use crate::file::{NamedValue, Reload, RunOrder, Study, StudyTarget};
use crate::matrix::{MatrixCell, cells};
use crate::order::Shuffler;
use crate::time::expected;
use std::collections::BTreeMap;
use std::time::Duration;
use tidemark_core::JobKind;

/// One step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedStep {
    /// What it does.
    pub kind: JobKind,
    /// The cell of the matrix, or the name of the data that are loaded.
    pub cell: String,
    /// Which repeat, from 1; 0 for a load.
    pub repeat: u32,
    /// What tells the cell from others; empty for a load.
    pub factors: BTreeMap<String, String>,
    /// What is asked of its command.
    pub command: StepCommand,
    /// The same as a command line, for readers: on the target as the file names it, without its password.
    pub words: Vec<String>,
    /// Index of its database in [`StudyPlan::places`].
    pub place: usize,
    /// Settings of the server while it goes on.
    pub global: Vec<(String, String)>,
    /// Names the tables that it uses: loads with the same replace each other.
    pub tables: String,
    /// A run's load, as an index of [`StudyPlan::steps`].
    pub load: Option<usize>,
    /// How long it takes, as far as that can be said before.
    pub expected: Duration,
}

/// The steps of a study, in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StudyPlan {
    /// The databases.
    pub places: Vec<StudyTarget>,
    /// The steps.
    pub steps: Vec<PlannedStep>,
    /// Cells of the matrix.
    pub cells: usize,
}

/// A cell with where its data are and what they are.
struct Located<'s> {
    cell: MatrixCell<'s>,
    place: usize,
    tables: String,
    /// Cells with the same use the same rows.
    data: String,
    /// Runs with the same stand between two loads of their tables.
    block: String,
}

impl StudyPlan {
    /// Makes the matrix and its steps.
    ///
    /// # Errors
    /// [`StudyError`] when a command would not be taken, with the line of the option that is wrong.
    pub fn new(study: &Study, commands: &dyn Commands) -> Result<StudyPlan, StudyError> {
        let mut places = study.targets.clone();
        let located: Vec<Located<'_>> = cells(study)
            .into_iter()
            .map(|cell| locate(study, cell, &mut places, commands))
            .collect();
        let mut planner = Planner {
            study,
            commands,
            steps: Vec::new(),
            places: &places,
            checked: BTreeMap::new(),
            refused: Vec::new(),
        };
        let mut shuffler = Shuffler::new(study.seed);
        for phase in phases(study, &located, &mut shuffler) {
            planner.phase(&phase, &mut shuffler);
        }
        let Planner { steps, refused, .. } = planner;
        if !refused.is_empty() {
            let problems = refused.into_iter().map(Problem::from);
            return Err(StudyError::new(problems.collect()));
        }
        Ok(StudyPlan {
            places,
            steps,
            cells: located.len(),
        })
    }

    /// How many runs there are.
    pub fn runs(&self) -> usize {
        let runs = self.steps.iter().filter(|s| s.kind == JobKind::Run);
        runs.count()
    }

    /// How long all steps take, as far as that can be said before.
    pub fn expected(&self) -> Duration {
        let times = self.steps.iter().map(|s| s.expected);
        times.fold(Duration::ZERO, Duration::saturating_add)
    }
}

impl Study {
    /// The databases: those of `[[target]]`, or of the factor that names them.
    pub fn places(&self) -> Vec<StudyTarget> {
        let mut places = self.targets.clone();
        for cell in cells(self) {
            place_of(&cell, &mut places);
        }
        places
    }
}

/// The place of a cell; one that a factor names is added.
fn place_of(cell: &MatrixCell<'_>, places: &mut Vec<StudyTarget>) -> usize {
    if let Some(target) = cell.target {
        return target;
    }
    let named = cell
        .values
        .iter()
        .find_map(|(_, v)| Some((v.line, &v.label, v.target.as_ref()?)));
    let (line, name, url) = match named {
        Some((line, label, url)) => (line, label.clone(), url.clone()),
        // The parser refuses a study without.
        None => (1, String::new(), String::new()),
    };
    if let Some(known) = places.iter().position(|p| p.name == name) {
        return known;
    }
    places.push(StudyTarget {
        line,
        name,
        url,
        admin: None,
        admin_password: None,
        password: None,
        session: Vec::new(),
    });
    places.len() - 1
}

fn locate<'s>(
    study: &Study,
    cell: MatrixCell<'s>,
    places: &mut Vec<StudyTarget>,
    commands: &dyn Commands,
) -> Located<'s> {
    let place = place_of(&cell, places);
    let workload = cell.workload;
    let said = |s: &&NamedValue| format!("{}={}", s.name.replace('_', "-"), s.value);
    let mut shape: Vec<String> = load_options(&cell, commands).iter().map(said).collect();
    shape.sort_unstable();
    // What holds while rows are loaded makes them other data, for the load itself is asked about.
    let under = global_of(&cell, JobKind::Load).into_iter();
    let of_target = cell.target.and_then(|t| study.targets.get(t));
    let common = of_target.map_or(0, |t| t.session.len());
    let under = under.chain(
        session_of(study, &cell, JobKind::Load)
            .into_iter()
            .skip(common),
    );
    shape.extend(under.map(|s| format!("{}={}", s.name, s.value)));
    if let Some(threads) = bulk_threads(&cell) {
        shape.push(format!("bulk_insert by {threads}"));
    }
    let what = workload.family.data;
    let data = match shape.join(" ") {
        shape if shape.is_empty() => what.to_string(),
        shape => format!("{what} {shape}"),
    };
    let block = match study.reload {
        Reload::Never => data.clone(),
        Reload::PerWorkload | Reload::PerRun => format!("{data} for {}", workload.label),
    };
    // Two names of one database have the same tables.
    let url = match places.get(place) {
        // Each of these is a server of its own.
        Some(place) if place.url.starts_with("up:") => place.name.as_str(),
        Some(place) => place.url.as_str(),
        None => "",
    };
    let tables = format!("{url} {}", workload.family);
    Located {
        place,
        tables,
        data,
        block,
        cell,
    }
}

/// Runs between which tables need not be loaded anew: of each database's tables one block after the
/// other, and beside each other those of different tables.
fn phases<'l, 's>(
    study: &Study,
    located: &'l [Located<'s>],
    shuffler: &mut Shuffler,
) -> Vec<Vec<&'l Located<'s>>> {
    if study.reload == Reload::PerRun {
        return vec![located.iter().collect()];
    }
    let mut blocks: Vec<(&str, Vec<&str>)> = Vec::new();
    for l in located {
        let at = match blocks.iter().position(|(tables, _)| *tables == l.tables) {
            Some(at) => at,
            None => {
                blocks.push((&l.tables, Vec::new()));
                blocks.len() - 1
            }
        };
        if !blocks[at].1.contains(&l.block.as_str()) {
            blocks[at].1.push(&l.block);
        }
    }
    if study.order == RunOrder::Shuffled {
        blocks.iter_mut().for_each(|(_, of)| shuffler.shuffle(of));
    }
    let count = blocks.iter().map(|(_, of)| of.len()).max().unwrap_or(0);
    let in_phase = |n: usize, l: &Located<'_>| {
        let of = blocks.iter().find(|(tables, _)| *tables == l.tables);
        of.and_then(|(_, of)| of.get(n))
            .is_some_and(|b| *b == l.block)
    };
    (0..count)
        .map(|n| located.iter().filter(|l| in_phase(n, l)).collect())
        .collect()
}

struct Planner<'p> {
    study: &'p Study,
    commands: &'p dyn Commands,
    places: &'p [StudyTarget],
    steps: Vec<PlannedStep>,
    /// Commands that were looked at already, with how long they take.
    checked: BTreeMap<(Vec<String>, Option<Duration>), Duration>,
    refused: Vec<Refused>,
}

/// What a command line is refused for.
#[derive(PartialEq)]
struct Refused {
    line: usize,
    why: String,
    /// The workloads whose commands it is.
    labels: Vec<String>,
}

impl From<Refused> for Problem {
    fn from(refused: Refused) -> Self {
        let Refused { line, why, labels } = refused;
        Problem::new(line, format!("{}: {why}", labels.join(", ")))
    }
}

/// What [load] says, in the words of commands.
const OF_LOAD: [&str; 3] = ["--threads=", "--rate=", "--connections="];

impl Planner<'_> {
    fn phase(&mut self, cells: &[&Located<'_>], shuffler: &mut Shuffler) {
        // Of each block in this phase, its load.
        let mut loads: BTreeMap<(String, String), usize> = BTreeMap::new();
        for repeat in 1..=self.study.repeats {
            let mut order: Vec<&&Located<'_>> = cells.iter().collect();
            if self.study.order == RunOrder::Shuffled {
                shuffler.shuffle(&mut order);
            }
            for located in order {
                let block = (located.tables.clone(), located.block.clone());
                let known = loads.get(&block).copied();
                let load = match known.filter(|_| self.study.reload != Reload::PerRun) {
                    Some(load) => load,
                    None => {
                        let load = self.load(located);
                        loads.insert(block, load);
                        load
                    }
                };
                self.run(located, repeat, load);
            }
        }
    }

    fn url(&self, located: &Located<'_>) -> String {
        let place = self.places.get(located.place);
        place.map_or(String::new(), |p| p.url.clone())
    }

    fn load(&mut self, located: &Located<'_>) -> usize {
        let cell = &located.cell;
        let command = load_command(self.study, cell, self.commands);
        let place = self.places.get(located.place).map_or("", |p| &p.name);
        let step = PlannedStep {
            cell: format!("{place}/{}", located.data),
            factors: BTreeMap::new(),
            ..self.step(located, command)
        };
        self.steps.push(step);
        self.steps.len() - 1
    }

    fn run(&mut self, located: &Located<'_>, repeat: u32, load: usize) {
        let command = run_command(self.study, &located.cell, self.commands);
        let step = PlannedStep {
            repeat,
            load: Some(load),
            ..self.step(located, command)
        };
        self.steps.push(step);
    }

    /// A run's step, or as much of a load's.
    fn step(&mut self, located: &Located<'_>, command: StepCommand) -> PlannedStep {
        let cell = &located.cell;
        let kind = command.kind;
        let url = self.url(located);
        let words = command.words(&url);
        // Of a search the command does not say how long it may take.
        let key = (words.clone(), cell.workload.time);
        let expected = match self.checked.get(&key) {
            Some(known) => *known,
            None => self.check(&command, &url, cell),
        };
        self.checked.insert(key, expected);
        PlannedStep {
            kind,
            cell: cell.key.clone(),
            repeat: 0,
            factors: cell.factors.clone(),
            command,
            words,
            place: located.place,
            global: pairs(&global_of(cell, kind)),
            tables: located.tables.clone(),
            load: None,
            expected,
        }
    }

    /// How long a command takes that a job can be made of. If none can, to blame is the option without
    /// which it can.
    fn check(&mut self, command: &StepCommand, url: &str, cell: &MatrixCell<'_>) -> Duration {
        let why = match self.commands.options(command, url) {
            Ok(options) => return expected(self.study, cell, command.kind, &options),
            Err(why) => why,
        };
        let said = || {
            let numbered = command.options.iter().enumerate();
            numbered.filter_map(|(n, option)| Some((n, option, option.line?)))
        };
        let is_right = |n: usize| self.commands.options(&command.without(n), url).is_ok();
        let guilty = said().find(|(n, ..)| is_right(*n));
        // Where two are wrong, the first that is named is the one that was complained of.
        let named = || said().find(|(_, option, _)| why.contains(&option.name));
        let line = guilty.or_else(named).map(|(.., line)| line);
        let line = line
            .or_else(|| self.line_of_load(cell, &why))
            .unwrap_or(cell.workload.line);
        self.refuse(line, why, cell.workload.label.clone());
        Duration::ZERO
    }

    /// What several workloads share is told once.
    fn refuse(&mut self, line: usize, why: String, label: String) {
        let mut known = self.refused.iter_mut();
        match known.find(|r| r.line == line && r.why == why) {
            Some(known) if known.labels.contains(&label) => {}
            Some(known) => known.labels.push(label),
            None => self.refused.push(Refused {
                line,
                why,
                labels: vec![label],
            }),
        }
    }

    /// The line of the load that a command complains of, if it is that.
    fn line_of_load(&self, cell: &MatrixCell<'_>, why: &str) -> Option<usize> {
        let levels = cell.workload.load.as_ref().unwrap_or(&self.study.load);
        let is_load = OF_LOAD.iter().any(|flag| why.starts_with(flag));
        (levels.given && is_load).then_some(levels.line)
    }
}

fn pairs(settings: &[&NamedValue]) -> Vec<(String, String)> {
    let pair = |s: &&NamedValue| (s.name.clone(), s.value.clone());
    settings.iter().map(pair).collect()
}
