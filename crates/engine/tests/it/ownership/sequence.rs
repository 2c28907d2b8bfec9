//! One sequence: steps drawn by chance of what Tidemark and others do in one database.

use crate::it::ownership::loads::Load;
use crate::it::ownership::model::Model;
use crate::it::ownership::place::{Engine, Place};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::fmt::Write;
use std::time::Duration;
use tidemark_core::{Contents, LeftBehind, StudyLoad, TablesUsed, held_the_same};
use tidemark_drivers::Session;
use tidemark_drivers::catalog::{self, Summed};
use tidemark_engine::{Replace, is_loaded_by, why_not_ours};

/// Steps of a sequence.
const STEPS: usize = 12;
/// Tables that loads of two tables make.
const TABLES: [&str; 2] = ["sbtest1", "sbtest2"];

/// A study that goes on.
#[derive(Debug, Clone)]
struct Study {
    id: String,
    runs: Vec<TablesUsed>,
    /// Its load stands, and nobody else has been at the tables since.
    undisturbed: bool,
    /// Its last load ended well: a study makes no run after one that did not.
    loaded: bool,
    tables: u64,
    /// Its loads say that others replace their tables, so that all rows are summed.
    sums: bool,
    /// Of tables with more rows than that, the rest sums only some.
    summed_rows: u64,
    /// Runs do not look at tables with more rows.
    counted_rows: u64,
}

impl Study {
    /// A new one, with limits that its small tables exceed or not.
    fn new(id: String, limits: &mut StdRng) -> Self {
        let mut one_of = |of: [u64; 4]| of[limits.random_range(0..of.len())];
        Self {
            id,
            runs: Vec::new(),
            undisturbed: false,
            loaded: false,
            tables: 0,
            sums: one_of([0, 1, 1, 1]) == 1,
            summed_rows: one_of([2, 4, 100, 100]),
            counted_rows: one_of([4, 100, 100, 100]),
        }
    }
}

/// What came of a sequence.
#[derive(Debug, Default)]
pub struct Came {
    /// Foreign rows that are gone and were not given away.
    pub lost: Vec<(String, String)>,
    /// A study's own tables, which nobody had touched, were refused.
    pub false_alarms: Vec<String>,
    /// Loads that ended well.
    pub loads: u64,
    /// What was done, step by step.
    pub story: String,
}

struct Play<'a> {
    place: &'a Place,
    dice: StdRng,
    /// Draws studies' limits alone, so that a sequence's steps do not hang on them.
    limits: StdRng,
    model: Model,
    study: Study,
    came: Came,
    renamed: u32,
}

/// Plays the sequence of this number.
pub fn play(place: &Place, seed: u64) -> Came {
    let mut limits = StdRng::seed_from_u64(!seed);
    let mut play = Play {
        place,
        dice: StdRng::seed_from_u64(seed),
        model: Model::default(),
        study: Study::new(format!("study-{seed}-0"), &mut limits),
        limits,
        came: Came::default(),
        renamed: 0,
    };
    for _ in 0..STEPS {
        play.step();
        if !play.came.lost.is_empty() || !play.came.false_alarms.is_empty() {
            break;
        }
    }
    place.clear();
    play.came
}

impl Play<'_> {
    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.dice.random_range(0..from.len())].clone()
    }

    fn tell(&mut self, what: &str) {
        // Writing to a String can't fail.
        let _ = writeln!(self.came.story, "  {what}");
    }

    fn step(&mut self) {
        match self.dice.random_range(0..20) {
            0..=2 => self.prepare(),
            3..=7 => self.study_load(),
            8 => self.ended(),
            9..=10 => self.killed(),
            11 => self.clean(),
            12..=13 => self.run_of_study(),
            14 => self.study = self.other_study(),
            15 => self.foreign_table(),
            16 => self.foreign_shape(),
            _ => self.foreign_rows(),
        }
    }

    fn load(&mut self, replace: Replace, study: bool) -> Load {
        let study = study.then(|| StudyLoad {
            study: self.study.id.clone(),
            left: LeftBehind::by(&self.study.runs),
            sums: self.study.sums,
        });
        let tables = self.pick(&[1, 1, 2]);
        // The largest has rows of which no sample is taken: 4 and 7.
        let rows = self.pick(&[0, 3, 5, 8, 90]);
        Load {
            tables,
            rows,
            chunk_rows: (rows / 4).max(2),
            seed: self.pick(&[1, 1, 2]),
            replace,
            study,
            summed_rows: self.study.summed_rows,
        }
    }

    /// Tables whose rows go with the owner's word.
    fn given_away(&self, load: &Load, replace: Replace) -> Vec<String> {
        let tables = TABLES.iter().take(load.tables as usize);
        let is_given = |table: &&&str| match replace {
            Replace::Nothing => false,
            Replace::Anything => true,
            // The benchmark's alone; a table that others refer to, or that has more, is not.
            Replace::Made | Replace::Benchmark => self.is_benchmarks(table),
        };
        tables.filter(is_given).map(ToString::to_string).collect()
    }

    /// Whether another table refers to it: keys follow a table that is renamed.
    fn is_referred(&self, table: &str) -> bool {
        let one = [table.to_string()];
        let found = self
            .place
            .with(async move |session: &mut Session| catalog::referrers(session, &one).await);
        !found.unwrap().is_empty()
    }

    fn is_benchmarks(&self, table: &str) -> bool {
        let Some(found) = self.place.describe(table) else {
            return true;
        };
        let workload = (tidemark_workloads::find("oltp_read_write").unwrap().build)(
            &tidemark_workloads::find("oltp_read_write")
                .unwrap()
                .defaults(),
        );
        let referred = self.is_referred(table);
        why_not_ours(workload.unwrap().as_ref(), &found).is_none()
            && found.columns.iter().all(|c| c.name != "note")
            && !referred
    }

    /// Looks for what is gone, after something that Tidemark did.
    fn look(&mut self, given_away: &[String]) {
        let lost = self.model.lost(self.place, given_away);
        self.came.lost.extend(lost);
    }

    fn prepare(&mut self) {
        let replace = self.pick(&[
            Replace::Nothing,
            Replace::Nothing,
            Replace::Benchmark,
            Replace::Anything,
        ]);
        let load = self.load(replace, false);
        let given = self.given_away(&load, replace);
        let creates = self.dice.random_bool(0.15);
        let done = match creates {
            // What it may drop bears Tidemark's mark, and is given away by that command.
            true => Load {
                replace: Replace::Made,
                ..load.clone()
            }
            .create(self.place),
            false => load.run(self.place),
        };
        let given = match creates {
            true => self.marked(&load),
            false => given,
        };
        self.disturb();
        self.told("prepare", &load, done.map_err(|e| e.to_string()));
        self.look(&given);
    }

    /// Tables that `--create` is given.
    fn marked(&self, load: &Load) -> Vec<String> {
        let mut tables = self.given_away(load, Replace::Made);
        tables.retain(|table| {
            let comment = self.place.describe(table).and_then(|t| t.comment);
            comment.is_some_and(|c| c.starts_with("tidemark:"))
        });
        tables
    }

    fn told(&mut self, what: &str, load: &Load, done: Result<(), String>) {
        self.came.loads += u64::from(done.is_ok());
        let study = load.study.as_ref().map(|s| format!(" {:?}", s.left));
        self.tell(&format!(
            "{what} {}x{} seed {} {:?}{}: {done:?}",
            load.tables,
            load.rows,
            load.seed,
            load.replace,
            study.unwrap_or_default()
        ));
    }

    fn study_load(&mut self) {
        let load = self.load(Replace::Nothing, true);
        // A table that others refer to is nobody's to drop.
        let is_referred = |table: &&str| self.is_referred(table);
        let expected = self.study.undisturbed
            && load.tables <= self.study.tables
            && !TABLES.iter().any(is_referred);
        let done = load.run(self.place).map_err(|e| e.to_string());
        self.told("study load", &load, done.clone());
        self.look(&[]);
        self.study.loaded = done.is_ok();
        match done {
            Ok(()) => {
                // A load by hand that it went on with is not its own.
                let owner = format!("owner={}", self.study.id);
                let is_own = |table: &&str| {
                    let comment = self.place.describe(table).and_then(|t| t.comment);
                    comment.is_some_and(|c| c.split(' ').any(|word| word == owner))
                };
                let tables = &TABLES[..load.tables as usize];
                let is_known = self.study.sums || load.rows <= self.study.summed_rows;
                // One that it went on with may hold rows of others since before.
                let is_whole = |table: &&str| {
                    let counted = self.place.query(&format!("SELECT COUNT(*) FROM {table}"));
                    let rows = counted.and_then(|rows| rows.int(0, 0));
                    rows.and_then(|rows| u64::try_from(rows).ok()) == Some(load.rows)
                };
                let is_its = |table: &&str| is_own(table) && is_whole(table);
                self.study.undisturbed = is_known && tables.iter().all(is_its);
                self.study.tables = load.tables;
                self.study.runs.clear();
            }
            Err(why) if expected => self.came.false_alarms.push(why),
            Err(_) => {}
        }
    }

    /// Somebody else has been here.
    fn disturb(&mut self) {
        self.study.undisturbed = false;
    }

    fn other_study(&mut self) -> Study {
        self.tell("another study");
        Study::new(format!("{}+", self.study.id), &mut self.limits)
    }

    fn ended(&mut self) {
        let study = self.dice.random_bool(0.6);
        let load = self.load(Replace::Nothing, study);
        let after = self.dice.random_range(0..4);
        load.interrupted(self.place, after);
        self.study.loaded &= !study;
        self.disturb();
        self.told(
            &format!("interrupted after {after}"),
            &load,
            Err(String::new()),
        );
        self.look(&[]);
    }

    fn killed(&mut self) {
        let study = self.dice.random_bool(0.6);
        let mut load = self.load(Replace::Nothing, study);
        if let Some(study) = &mut load.study {
            study.left = LeftBehind::AsLoaded;
        }
        let (after, wait) = match self.dice.random_bool(0.5) {
            true => (self.dice.random_range(0..4), None),
            false => (
                u64::MAX,
                Some(Duration::from_millis(self.dice.random_range(1..40))),
            ),
        };
        load.killed(self.place, after, wait);
        self.study.loaded &= !study;
        self.disturb();
        self.told(
            &format!("killed after {after} {wait:?}"),
            &load,
            Err(String::new()),
        );
        self.look(&[]);
    }

    fn clean(&mut self) {
        let load = self.load(Replace::Nothing, false);
        let force = self.dice.random_bool(0.3);
        let replace = if force {
            Replace::Anything
        } else {
            Replace::Benchmark
        };
        let given = self.given_away(&load, replace);
        let done = load.clean(self.place, force);
        self.disturb();
        self.tell(&format!("cleanup {} force {force}: {done}", load.tables));
        self.look(&given);
    }

    /// What a run says of the tables that its study has loaded.
    fn contents(&self) -> Contents {
        let summed = match self.study.sums {
            true => Summed::All,
            false => Summed::UpTo(self.study.summed_rows),
        };
        let held = |table: &&str| {
            let found = self.place.describe(table)?;
            let name = is_loaded_by(&found, &self.study.id).then(|| table.to_string())?;
            let held = self.place.with(async move |session: &mut Session| {
                catalog::contents_with(session, &name, summed).await
            });
            let held = held.unwrap()?;
            let is_counted = catalog::rows_in(&held)? <= self.study.counted_rows;
            is_counted.then(|| (table.to_string(), held))
        };
        TABLES.iter().filter_map(held).collect()
    }

    /// Whether all rows of all the study's tables were summed.
    fn is_whole(&self, held: &Contents) -> bool {
        let is_whole = |table: &&str| {
            let held = held.get(*table);
            held.is_some_and(|held| held_the_same(held, held) == Some(true))
        };
        TABLES[..self.study.tables as usize].iter().all(is_whole)
    }

    /// A run of the study's writes into the tables that it has loaded, but not into foreign rows.
    fn run_of_study(&mut self) {
        if !self.study.loaded {
            return;
        }
        let before = self.contents();
        let wrote = self.dice.random_bool(0.7);
        let mut statements = Vec::new();
        for _ in 0..self.dice.random_range(1..4) {
            let (id, other) = (
                self.dice.random_range(1..12),
                self.dice.random_range(100..120),
            );
            let table = TABLES[0];
            statements.push(match self.dice.random_range(0..3) {
                0 => format!("UPDATE {table} SET k = k + 1 WHERE id = {id} AND c NOT LIKE 'mine%'"),
                1 => format!("DELETE FROM {table} WHERE id = {id} AND c NOT LIKE 'mine%'"),
                _ => format!(
                    "INSERT INTO {table} (id, k, c, pad) SELECT {other}, 1, 'run', '' \
                     WHERE NOT EXISTS (SELECT 1 FROM {table} WHERE id = {other})"
                ),
            });
        }
        if wrote {
            for statement in &statements {
                self.place.execute(std::slice::from_ref(statement));
            }
        }
        self.forget_deleted();
        let cut_off = self.dice.random_bool(0.2);
        let after = match cut_off {
            true => Contents::new(),
            false => self.contents(),
        };
        // Of such a run nobody knows what it left, so the study's next load rightly refuses.
        let is_known = self.is_whole(&before) && self.is_whole(&after);
        self.study.undisturbed &= is_known || !wrote;
        self.study.runs.push(TablesUsed {
            before,
            after,
            wrote,
        });
        self.tell(&format!(
            "run, wrote {wrote} {statements:?}, cut off {cut_off}"
        ));
    }

    /// A table of the benchmark's name that others made, with rows or without.
    fn foreign_table(&mut self) {
        let table = self.pick(&TABLES);
        let rows = self.dice.random_range(0..3);
        let other = self.dice.random_bool(0.3);
        let columns = match other {
            true => "id INTEGER NOT NULL PRIMARY KEY, c VARCHAR(120), note VARCHAR(20)",
            false => {
                "id INTEGER NOT NULL, k INTEGER DEFAULT '0' NOT NULL, \
                      c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL, \
                      PRIMARY KEY (id)"
            }
        };
        if self
            .place
            .execute(&[format!("CREATE TABLE {table} ({columns})")])
        {
            for id in 1..=rows {
                self.insert(table, id);
            }
        }
        self.disturb();
        self.tell(&format!(
            "foreign table {table}, {rows} rows, other {other}"
        ));
    }

    fn insert(&mut self, table: &str, id: u64) {
        let text = self.model.text();
        let insert = format!("INSERT INTO {table} (id, c) VALUES ({id}, '{text}')");
        if self.place.execute(&[insert]) {
            self.model.add(table, &text);
        }
    }

    /// What others delete of their own, by their own keys too, is not Tidemark's doing.
    fn forget_deleted(&mut self) {
        let children = TABLES.map(|table| format!("child_of_{table}"));
        let all = TABLES.iter().map(ToString::to_string).chain(children);
        let all: Vec<String> = all.collect();
        self.model.lost(self.place, &all);
    }

    fn foreign_rows(&mut self) {
        let table = self.pick(&TABLES);
        self.disturb();
        match self.dice.random_range(0..4) {
            0 => {
                let id = self.dice.random_range(1..200);
                self.insert(table, id);
                self.tell(&format!("foreign row {id} in {table}"));
            }
            1 => {
                let id = self.dice.random_range(1..9);
                let text = self.model.text();
                let old = self
                    .place
                    .query(&format!("SELECT c FROM {table} WHERE id = {id}"));
                let Some(old) = old.and_then(|rows| rows.text(0, 0)) else {
                    return;
                };
                let change = format!("UPDATE {table} SET c = '{text}' WHERE id = {id}");
                if self.place.execute(&[change]) {
                    self.model.forget(table, old.trim_end());
                    self.model.add(table, &text);
                }
                self.tell(&format!("row {id} of {table} changed"));
            }
            // Its place may be taken by another row, so that the number is the same.
            2 => {
                let id = self.dice.random_range(1..9);
                let old = self
                    .place
                    .query(&format!("SELECT c FROM {table} WHERE id = {id}"));
                if old.is_none_or(|rows| rows.is_empty()) {
                    return;
                }
                if self
                    .place
                    .execute(&[format!("DELETE FROM {table} WHERE id = {id}")])
                {
                    self.forget_deleted();
                    let other = self.dice.random_range(2..9);
                    self.insert(table, other);
                }
                self.tell(&format!("row {id} of {table} in another's place"));
            }
            // A copy of a marked table bears the mark, too, where comments are copied.
            _ => {
                self.renamed += 1;
                let old = format!("old_{}", self.renamed);
                let like = match self.place.engine {
                    Engine::Mariadb => format!("CREATE TABLE {table} LIKE {old}"),
                    Engine::Postgres => format!("CREATE TABLE {table} (LIKE {old} INCLUDING ALL)"),
                    Engine::Sqlite => String::new(),
                };
                if like.is_empty()
                    || !self
                        .place
                        .execute(&[format!("ALTER TABLE {table} RENAME TO {old}")])
                {
                    return;
                }
                self.model.rename(table, &old);
                if self.place.execute(&[like]) {
                    let mark = self.place.describe(&old).and_then(|t| t.comment);
                    let copied = mark.filter(|_| self.place.engine == Engine::Postgres);
                    if let Some(mark) = copied {
                        let comment = format!("COMMENT ON TABLE {table} IS '{mark}'");
                        self.place.execute(&[comment]);
                    }
                    self.insert(table, 1);
                }
                self.tell(&format!("{table} renamed to {old}, and a copy made"));
            }
        }
    }

    /// What makes a table more than the benchmark's.
    fn foreign_shape(&mut self) {
        let table = self.pick(&TABLES);
        self.disturb();
        let trigger = match self.place.engine {
            Engine::Sqlite => {
                format!("CREATE TRIGGER of_{table} AFTER DELETE ON {table} BEGIN SELECT 1; END")
            }
            Engine::Mariadb => {
                format!("CREATE TRIGGER of_{table} AFTER DELETE ON {table} FOR EACH ROW SET @x = 1")
            }
            Engine::Postgres => {
                format!("CREATE RULE of_{table} AS ON DELETE TO {table} DO ALSO NOTHING")
            }
        };
        let child = format!("child_of_{table}");
        let statements = match self.dice.random_range(0..4) {
            0 => vec![format!("ALTER TABLE {table} ADD COLUMN note VARCHAR(9)")],
            1 => vec![trigger],
            2 => vec!["DROP TABLE tidemark_load_journal".into()],
            _ => vec![format!(
                "CREATE TABLE {child} (x INTEGER, c VARCHAR(20), FOREIGN KEY (x) \
                 REFERENCES {table} (id) ON DELETE CASCADE)"
            )],
        };
        if self.place.execute(&statements) && statements[0].contains("child_of") {
            // Its rows hang on those of the benchmark's.
            let id = self.place.query(&format!("SELECT MIN(id) FROM {table}"));
            let id = id.and_then(|rows| rows.int(0, 0));
            if let Some(id) = id {
                let text = self.model.text();
                let insert = format!("INSERT INTO {child} (x, c) VALUES ({id}, '{text}')");
                if self.place.execute(&[insert]) {
                    self.model.add(&child, &text);
                }
            }
        }
        self.tell(&statements.join("; "));
    }
}
