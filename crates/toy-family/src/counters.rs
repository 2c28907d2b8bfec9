//! Counters: each transaction adds one to a counter of a table, chosen at random.

use std::sync::Arc;
use tidemark::Frontend;
use tidemark_core::{OptionError, OptionKind, OptionSpec, option};
use tidemark_drivers::catalog::TableDescription;
use tidemark_drivers::{Dialect, RowSource, RowWriter, Session, Value};
use tidemark_report::{Digest, Lang, WorkloadSection};
use tidemark_workloads::random::Rng;
use tidemark_workloads::{
    CommandLine, CustomUser, Definition, Doing, Done, PreparedStatements, Prewarm, Runs,
    Statements, TablePlan, Terminal, Workload,
};

/// Everything that is known of the family.
pub static FAMILY: tidemark::Family = tidemark::Family {
    workloads: &[tidemark_workloads::Family {
        name: "counters",
        title: "Counters",
        definitions: &[Definition {
            name: NAME,
            family: "counters",
            summary: "One UPDATE that adds one to a counter",
            options: &[OPTIONS],
            build: |options| {
                Ok(Arc::new(Counters {
                    count: options.uint("table-size"),
                }))
            },
        }],
        command: CommandLine::SYSBENCH,
        data: TABLE,
        clashes_with: &[],
        load_s: |options| options.float("table-size") / 150_000.0,
        runs: Runs::Transactions,
    }],
    reports: &[tidemark_report::Family::new(NAME, section)],
    frontends: &[Frontend {
        word: "counters",
        about: "Add to counters, with sysbench's own options",
        words: "[options]... prepare|run|cleanup|help",
        main: |args, words| tidemark::sysbench(args, &[&[NAME.into()], words].concat()),
        grammar: || Ok(clap()),
        options: Vec::new,
        commands: &[],
        examples: [
            "tidemark counters --sqlite-db=toy.db --db-driver=sqlite prepare",
            "tidemark counters --sqlite-db=toy.db --db-driver=sqlite run",
        ],
        has_password_letter: false,
        flags_first: false,
        runs: None,
        summaries: &[],
        study: None,
    }],
};

const NAME: &str = "count_up";
const TABLE: &str = "toy_counters";
const OPTIONS: &[OptionSpec] = &[option(
    "table-size",
    OptionKind::Int {
        min: 1,
        max: 1_000_000,
    },
    "100",
    "Counters",
)];

fn clap() -> tidemark::ClapCommand {
    tidemark::ClapCommand::new("tidemark counters")
}

/// A part of the report.
fn section(digest: &Digest<'_>, lang: Lang) -> Option<WorkloadSection> {
    let counted = digest.record().totals.all.count;
    Some(WorkloadSection {
        title: match lang {
            Lang::Zh => "计数器",
            Lang::En => "Counters",
        },
        facts: vec![("counted", counted.to_string())],
        ..WorkloadSection::default()
    })
}

#[derive(Debug)]
struct Counters {
    count: u64,
}

impl Workload for Counters {
    fn name(&self) -> &'static str {
        NAME
    }

    fn transaction_types(&self) -> &'static [&'static str] {
        &["COUNT"]
    }

    fn tables(&self, _dialect: &Dialect, _sessions: usize) -> Result<Vec<TablePlan>, OptionError> {
        Ok(vec![TablePlan {
            name: TABLE.into(),
            create: vec![format!(
                "CREATE TABLE {TABLE} (id INTEGER NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (id))"
            )],
            columns: &["id", "n"],
            rows: self.count,
            key: Some("id"),
            ..TablePlan::default()
        }])
    }

    fn rows(&self, _table: usize, first: u64, count: u64, _seed: u64) -> Box<dyn RowSource + Send> {
        Box::new(Rows(first..first + count))
    }

    fn recognises(&self, found: &TableDescription) -> bool {
        let names: Vec<&str> = found.columns.iter().map(|c| c.name.as_str()).collect();
        self.additions(found).is_empty() && found.name == TABLE && names == ["id", "n"]
    }

    fn needs(&self, _sessions: usize) -> Vec<String> {
        vec![TABLE.into()]
    }

    fn prewarm(&self, _dialect: &Dialect) -> Vec<Prewarm> {
        Vec::new()
    }

    fn statements(&self) -> Statements {
        let update = format!("UPDATE {TABLE} SET n = n + 1 WHERE id = ?");
        Statements::Custom(PreparedStatements::new(move |_| vec![update.clone()]))
    }

    fn terminal(&self, number: usize, _terminals: usize, seed: u64) -> Terminal {
        Terminal::Custom(Box::new(User {
            count: self.count,
            rng: Rng::of(&[seed, number as u64]),
        }))
    }
}

struct Rows(std::ops::Range<u64>);

impl RowSource for Rows {
    fn next_row(&mut self, row: &mut RowWriter<'_>) -> bool {
        let next = self.0.next();
        if let Some(number) = next {
            row.int(number as i64 + 1);
            row.int(0);
        }
        next.is_some()
    }
}

#[derive(Debug)]
struct User {
    count: u64,
    rng: Rng,
}

impl CustomUser for User {
    fn transaction<'a>(
        &'a mut self,
        session: &'a mut Session,
        statements: &'a PreparedStatements,
    ) -> Doing<'a> {
        Box::pin(async move {
            let id = self.rng.below(self.count) as i64 + 1;
            session
                .execute(statements.get(0)?, &[Value::Int(id)])
                .await?;
            Ok(Done::of(0))
        })
    }
}
