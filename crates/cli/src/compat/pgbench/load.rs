//! `--initialize`.

use super::only_postgres;
use crate::exit::{ExitCode, Failure};
use crate::loading::{self, is_kept};
use crate::plan::{BoundWorkload, load_spec};
use crate::record_outputs::say;
use crate::render::language;
use crate::runner::JobOrder;
use crate::stdio::Stderr;
use std::io::Write;
use tidemark_core::{Job, OptionValues, Source};
use tidemark_engine::{LoadSpec, Replace};

/// Makes and fills the tables. Those that Tidemark made, or that have no rows, are made anew; others
/// are kept unless `--replace` is given.
///
/// # Errors
/// [`Failure`] as the engine's: [`ExitCode::Refused`] for tables that Tidemark did not make.
pub fn load(order: &JobOrder) -> Result<ExitCode, Failure> {
    only_postgres(order.target.protocol)?;
    let (plan, spec) = (BoundWorkload::of(order)?, spec(&order.job, &order.options));
    let mut out: Box<dyn Write> = match order.options.flag("quiet") {
        true => Box::new(std::io::sink()),
        false => Box::new(Stderr),
    };
    if is_kept(&order.job, &plan, &spec, &mut out)? {
        return Ok(ExitCode::Success);
    }
    let report = loading::load(&plan, &spec, language(&order.job.outputs.lang), &mut out)?;
    let seconds = report.elapsed.as_secs_f64();
    say(&mut Stderr, &format!("done in {seconds:.2} s.\n"));
    Ok(ExitCode::Success)
}

/// How the load is made. Rows are given up by those who say so; pgbench's own default does without. A study
/// knows which tables are its own, and of several clients only the first makes place: what a helper finds
/// may be what the first has loaded.
fn spec(job: &Job, options: &OptionValues) -> LoadSpec {
    let mut spec = load_spec(job);
    let is_said = options.source("init-steps") != Source::Default;
    let drops = is_said && options.text("init-steps").contains('d');
    let may_drop = spec.study.is_none() && job.load.shard.index == 0;
    if spec.replace == Replace::Nothing && drops && may_drop {
        spec.replace = Replace::Made;
    }
    spec
}

#[cfg(test)]
mod tests {
    use super::super::parse::tests::asked;
    use super::*;
    use tidemark_core::Shard;

    #[test]
    fn only_the_first_of_several_clients_makes_place() {
        let (_, options) = asked("-i -I dtgp").unwrap();
        let text = r#"{"version": 1, "target": {"url": "postgres://u@h/d"},
            "workload": {"name": "tpcb-like"}, "tool": {"name": "pgbench"}}"#;
        let replaced = |index, force| {
            let mut job = Job::from_json(text).unwrap();
            job.force = force;
            job.load.shard = Shard { index, of: 3 };
            spec(&job, &options).replace
        };
        assert_eq!(replaced(0, false), Replace::Made);
        assert_eq!(replaced(0, true), Replace::Anything);
        for helper in [1, 2] {
            assert_eq!(replaced(helper, false), Replace::Nothing);
            assert_eq!(replaced(helper, true), Replace::Nothing);
        }
    }
}
