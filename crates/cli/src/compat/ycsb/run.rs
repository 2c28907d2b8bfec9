//! `run`, in go-ycsb's words.

use super::lines::summary;
use super::load::{no_records, only_ycsbs};
use super::parse::YcsbCommand;
use super::printer::Printer;
use super::{YcsbWork, key_probe};
use crate::exit::{ExitCode, Failure};
use crate::live_output::LiveOutput;
use crate::looking::Described;
use crate::measuring::MeasuredRun;
use crate::pacing::{described as lines_of, long_distance, sets_its_length};
use crate::plan::{BoundWorkload, native_spec};
use crate::progress;
use crate::record_outputs::say;
use crate::runner::{self, Console, JobOrder, Ready};
use crate::stdio::{Aside, Stdout};
use std::io::Write;
use std::time::Instant;
use tidemark_core::record::RunRecord;
use tidemark_core::{IgnoreErrors, Protocol, RunSpec};
use tidemark_report::ycsb::beyond;

/// Makes load and measures.
///
/// # Errors
/// As [`runner::run`].
pub(super) fn run(order: &JobOrder, asked: &YcsbCommand) -> Result<ExitCode, Failure> {
    let work = YcsbWork::new(asked)?;
    let aside = work.aside();
    runner::run(order, &mut YcsbConsole { work, aside })
}

/// go-ycsb's words for a run.
struct YcsbConsole<'a> {
    work: YcsbWork<'a>,
    aside: Aside,
}

impl Console for YcsbConsole<'_> {
    fn prepare_command(&self) -> String {
        self.work.load_command()
    }

    fn begin(&mut self, _order: &JobOrder) -> Result<(), Failure> {
        let options = self.work.options();
        if options.uint("recordcount") == 0 {
            return Err(no_records(
                options,
                "set the number of records that were loaded; for example -p recordcount=100000",
            ));
        }
        Ok(())
    }

    fn inspect(
        &mut self,
        order: &JobOrder,
        plan: &BoundWorkload,
        described: &mut Described,
    ) -> Result<(), Failure> {
        let work = &self.work;
        if !order.job.force {
            only_ycsbs(plan, "run on it")?;
        }
        // Its key is no number that counts rows, so that the properties say how many there are.
        for table in &mut described.tables {
            table.expected_rows = Some(work.options().uint("recordcount"));
        }
        let missing = key_probe::look(work, plan)?;
        say(&mut self.aside, &work.properties());
        let protocol = plan.target.protocol;
        let warnings = warnings(work, &order.job.load, protocol);
        for warning in warnings.chain(missing) {
            say(&mut self.aside, &format!("WARNING: {warning}\n"));
        }
        Ok(())
    }

    fn header(&mut self, order: &JobOrder, record: &RunRecord) {
        let head = header(&self.work, &order.job.load, record);
        say(&mut self.aside, &head);
    }

    fn measure<'b>(&mut self, ready: Ready<'b>) -> Result<MeasuredRun<'b>, Failure> {
        let begun = Instant::now();
        let bar = progress::of_run(&ready.job().load, self.work.lang);
        let mut printer = Printer::new(self.work.style, self.work.options().time("interval"));
        let mut out = Stdout;
        let outlet = LiveOutput::two(&mut out, &mut self.aside, bar);
        let measured = ready.measure(&[], None, outlet, &mut printer)?;
        let elapsed = begun.elapsed();
        say(
            &mut self.aside,
            &format!("Run finished, takes {elapsed:?}\n"),
        );
        Ok(measured)
    }

    fn summary(
        &mut self,
        _order: &JobOrder,
        measured: &MeasuredRun<'_>,
    ) -> Result<String, Failure> {
        let record = &measured.recording.record;
        let theirs = summary(&record.totals, self.work.style)?;
        say(&mut Stdout, &theirs);
        let ours = beyond(record, self.work.lang)?;
        say(&mut self.aside, &ours);
        Ok(format!("{theirs}{ours}"))
    }

    fn aside(&mut self) -> &mut dyn Write {
        &mut self.aside
    }
}

pub(super) fn run_spec(work: &YcsbWork<'_>) -> Result<RunSpec, Failure> {
    let options = work.options();
    let spec = native_spec(options, options.uint("seed"))?;
    let by_itself = sets_its_length(&spec.pacing);
    Ok(RunSpec {
        time: Some(options.time("time")).filter(|t| !t.is_zero() && !by_itself),
        events: Some(options.uint("operationcount")).filter(|n| *n > 0 && !by_itself),
        warmup: options.time("warmup"),
        ignore_errors: if options.flag("ignore-error") {
            IgnoreErrors::All
        } else {
            IgnoreErrors::Retryable { also: Vec::new() }
        },
        ..spec
    })
}

/// What a run may be meant not to be.
fn warnings(
    work: &YcsbWork<'_>,
    spec: &RunSpec,
    protocol: Protocol,
) -> impl Iterator<Item = String> {
    let options = work.options();
    let mut warnings = Vec::new();
    if spec.time.is_none() && spec.events.is_none() && !sets_its_length(&spec.pacing) {
        warnings.push(
            "neither operationcount nor maxexecutiontime is set: the run continues until Ctrl-C, \
             then prints its results"
                .into(),
        );
    }
    warnings.extend(long_distance(options, spec));
    if options.uint("batch-size") > 1 {
        warnings.push(format!(
            "batch.size={} applies only to load; a run executes operations one by one",
            options.uint("batch-size")
        ));
    }
    let writes = ["updateproportion", "readmodifywriteproportion"];
    let updates = writes.iter().any(|name| options.float(name) > 0.0);
    if options.flag("dataintegrity") && updates && protocol == Protocol::Mysql {
        warnings.push(
            "dataintegrity=true: UPDATE writes unchanged values, for which MySQL, MariaDB and \
             TiDB change nothing: these are not the latencies of real updates"
                .into(),
        );
    }
    warnings.into_iter()
}

fn header(work: &YcsbWork<'_>, spec: &RunSpec, record: &RunRecord) -> String {
    let options = work.options();
    let mut lines = vec![
        format!("tidemark {} (go-ycsb output)", env!("TIDEMARK_VERSION")),
        format!("Target: {}", record.target),
    ];
    if let Some(server) = &record.server {
        lines.push(format!("Server: {} {}", server.engine, server.version));
    }
    lines.push(format!(
        "Records: {}, request distribution: {}, threads: {}, seed: {}",
        options.uint("recordcount"),
        options.text("requestdistribution"),
        spec.terminals,
        spec.seed
    ));
    lines.extend(lines_of(spec));
    lines.join("\n") + "\n\n"
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;
    use std::time::Duration;
    use tidemark_core::{Arrivals, Pacing};

    fn spec(line: &str) -> RunSpec {
        let asked = parse::asked(line).unwrap();
        run_spec(&YcsbWork::new(&asked).unwrap()).unwrap()
    }

    #[test]
    fn a_run_is_as_long_and_as_fast_as_the_properties_say() {
        let s = spec("run mysql -P workloada -p maxexecutiontime=60 -p warmuptime=5 --threads 8");
        assert_eq!(
            (s.events, s.time),
            (Some(1000), Some(Duration::from_secs(60)))
        );
        assert_eq!((s.warmup, s.terminals), (Duration::from_secs(5), 8));
        assert_eq!(s.pacing, Pacing::Closed);
        let s = spec("run mysql -p operationcount=0 --target 250");
        assert_eq!((s.events, s.time), (None, None));
        assert_eq!(
            (s.pacing, s.arrivals),
            (Pacing::Rate(250.0), Arrivals::Constant)
        );
    }
}
