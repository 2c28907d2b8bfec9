//! From flags to what is run.

use crate::exit::Failure;
use crate::pacing::sets_its_length;
use crate::plan::{native_spec, tpcc_seed};
use tidemark_core::{IgnoreErrors, OptionValues, Pacing, RunSpec};
use tidemark_report::tpcc::Price;

/// What the run is asked to do.
///
/// # Errors
/// [`Failure`] of bad usage.
pub(super) fn run_spec(options: &OptionValues) -> Result<RunSpec, Failure> {
    price(options)?;
    let spec = native_spec(options, tpcc_seed(options))?;
    if spec.pacing != Pacing::Closed && options.flag("wait") {
        return Err(Failure::usage(format!(
            "--wait and --{} cannot be combined: users with think times wait for replies, a \
             schedule does not",
            if options.text("find-max").is_empty() {
                format!("rate={}", options.text("rate"))
            } else {
                format!("find-max={:?}", options.text("find-max"))
            }
        )));
    }
    let by_itself = sets_its_length(&spec.pacing);
    let executors = usize::try_from(options.uint("max-procs")).ok();
    Ok(RunSpec {
        time: Some(options.time("time")).filter(|t| !t.is_zero() && !by_itself),
        events: Some(options.uint("count")).filter(|n| *n > 0 && !by_itself),
        warmup: options.time("warmup"),
        executors: spec.executors.or(executors.filter(|n| *n > 0)),
        ignore_errors: if options.flag("ignore-error") {
            IgnoreErrors::All
        } else {
            IgnoreErrors::Retryable { also: Vec::new() }
        },
        ..spec
    })
}

fn price(options: &OptionValues) -> Result<Option<Price>, Failure> {
    let given = options.text_opt("price");
    let price = given.map(str::parse::<Price>).transpose();
    price.map_err(|e| Failure::usage(format!("--price={e}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compat::gotpc::GoTpcWork;
    use crate::compat::tpcc::flags::TOOL;
    use crate::compat::tpcc::options_of;
    use std::time::Duration;

    fn spec(line: &str) -> Result<RunSpec, String> {
        run_spec(&options_of(line)).map_err(|f| f.message)
    }

    #[test]
    fn a_run_is_as_long_as_go_tpcs() {
        let endless = spec("run").unwrap();
        assert_eq!((endless.time, endless.events), (None, None));
        assert_eq!((endless.terminals, endless.sessions), (1, 1));
        let timed = spec("run --time 1h30m -T 8 --connections 2 --warmup 10s").unwrap();
        assert_eq!(timed.time, Some(Duration::from_secs(5400)));
        assert_eq!((timed.terminals, timed.sessions), (8, 2));
        assert_eq!(timed.warmup, Duration::from_secs(10));
        let counted = spec("run --count 500 --max-procs 2 --seed 7").unwrap();
        assert_eq!(counted.events, Some(500));
        assert_eq!((counted.executors, counted.seed), (Some(2), 7));
    }

    /// Clause 2.1.6.1: C-run is one constant of all terminals of a run.
    #[test]
    fn clients_that_share_a_run_have_its_constants() {
        let part = |range: &str| spec(&format!("run --warehouses 10 {range}")).unwrap().seed;
        let first = part("--last-warehouse 4");
        assert_eq!(first, part("--first-warehouse 5 --last-warehouse 7"));
        assert_eq!(first, part("--first-warehouse 8"));
        assert_eq!(part("--first-warehouse 8 --seed 77"), 77);
        // A whole run draws its own.
        let whole = part("");
        std::thread::sleep(Duration::from_millis(1));
        assert_ne!(whole, part("--last-warehouse 10"));
    }

    #[test]
    fn errors_end_a_run_unless_they_are_ignored() {
        let strict = spec("run").unwrap().ignore_errors;
        assert!(matches!(strict, IgnoreErrors::Retryable { .. }));
        let lenient = spec("run --ignore-error").unwrap().ignore_errors;
        assert_eq!(lenient, IgnoreErrors::All);
    }

    #[test]
    fn rates_are_an_alternative_to_users() {
        let spec = |line| super::tests::spec(line);
        assert_eq!(spec("run --rate 50").unwrap().pacing, Pacing::Rate(50.0));
        let message = spec("run --rate 50 --wait").unwrap_err();
        assert!(message.contains("--wait and --rate=50"), "{message}");
        let message = spec("run --rate 5,9 --time 5m").unwrap_err();
        assert!(message.contains("use --rate-hold"), "{message}");
        let message = spec("run --rate 5,9 --count 5").unwrap_err();
        assert!(message.contains("--count=5"), "{message}");
    }

    #[test]
    fn numbers_of_go_tpcs_are_words() {
        for (line, name, word) in [
            ("prepare --output-type CSV", "output-type", "csv"),
            ("prepare --partition-type 4", "partition-type", "list-range"),
            ("prepare --partition-type range", "partition-type", "range"),
            ("prepare", "partition-type", "hash"),
            ("run --isolation 2", "isolation", "read-committed"),
            ("run --isolation serializable", "isolation", "serializable"),
            ("run", "isolation", "default"),
        ] {
            assert_eq!(options_of(line).text(name), word, "{line}");
        }
    }

    #[test]
    fn the_command_that_prepares_has_what_shapes_and_connects_and_no_password() {
        let options = options_of("-H h -p geheim --warehouses 4 -T 8 --time 5m run");
        let work = GoTpcWork::new(&TOOL, &options).unwrap();
        let command = work.prepare_command();
        assert_eq!(
            command,
            "tidemark tpcc --host=h --password='***' --warehouses=4 prepare"
        );
    }

    #[test]
    fn a_price_is_checked_before_the_run() {
        let message = spec("run --price cheap").unwrap_err();
        assert!(message.contains("--price="), "{message}");
        assert!(message.contains("'12345 USD'"), "{message}");
    }
}
