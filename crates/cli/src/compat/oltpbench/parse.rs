//! The family's command line: `-c FILE`, `-im 1000`, `--load=true`, `--load true` and `--load`.
//!
//! Its grammar is that of Java's command-line library and not clap's: short names of several
//! letters, and flags that may stand alone or have `true` behind them.

use super::options::{NOT_OFFERED, SHORT, groups};
use crate::exit::Failure;
use tidemark_core::{OptionError, OptionKind, OptionSpec, OptionValues, Source, nearest};

/// A command line, understood.
#[derive(Debug)]
pub enum Invocation {
    /// `--help`, or nothing at all.
    Help,
    /// Every option's effective value.
    Do(Box<OptionValues>),
}

/// Understands a command line without its first word.
///
/// # Errors
/// [`Failure`] of bad usage: an unknown flag with the nearest known one, a flag that is not
/// offered, a bad value, nothing to do.
pub fn parse(args: &[String]) -> Result<Invocation, Failure> {
    let groups = groups();
    let mut options = OptionValues::defaults(groups.iter().map(|g| g.options.as_slice()));
    let mut args = args.iter().peekable();
    if args.peek().is_none() {
        return Ok(Invocation::Help);
    }
    while let Some(arg) = args.next() {
        let (given, value) = match arg.split_once('=') {
            Some((given, value)) => (given, Some(value.to_string())),
            None => (arg.as_str(), None),
        };
        let name = name_of(given, &options)?;
        let spec = *known(&name, given, &options)?;
        let value = match value {
            Some(value) => value,
            None if spec.kind == OptionKind::Bool => {
                let is_one = |next: &&String| is_flag_value(next);
                args.next_if(is_one).cloned().unwrap_or_default()
            }
            None => {
                let next = args.next_if(|next| !is_flag(next));
                next.cloned().ok_or_else(|| wants_a_value(given, &spec))?
            }
        };
        // Reports add up; everything else is as it was said last.
        let before = Some(options.text("report"))
            .filter(|before| name == "report" && !before.is_empty() && !value.is_empty());
        let value = before.map_or(value.clone(), |before| format!("{before},{value}"));
        options.set(&name, &value, Source::CommandLine)?;
    }
    if options.flag("help") {
        return Ok(Invocation::Help);
    }
    let steps = [
        "create",
        "clear",
        "load",
        "execute",
        "create-sql-procedures",
    ];
    if !steps.iter().any(|step| options.flag(step)) {
        return Err(Failure::usage(
            "no step given: add --create=true, --clear=true, --load=true or --execute=true; for \
             example: tidemark oltpbench -c workload.xml --load=true",
        ));
    }
    Ok(Invocation::Do(Box::new(options)))
}

fn is_flag_value(word: &str) -> bool {
    let words = ["true", "false", "yes", "no", "on", "off", "1", "0"];
    words.contains(&word.to_ascii_lowercase().as_str())
}

/// A number may be negative, and is then refused for what it is.
fn is_flag(word: &str) -> bool {
    word.strip_prefix('-')
        .is_some_and(|w| w.parse::<f64>().is_err())
}

fn wants_a_value(given: &str, spec: &OptionSpec) -> Failure {
    let example = match (spec.name, spec.default) {
        (_, default) if !default.is_empty() && default != "0" => default,
        ("nodes", _) => "h1,h2",
        ("target", _) => "postgres://user@127.0.0.1/tpcc",
        ("out", _) => "record.json",
        ("report", _) => "report.html",
        ("store", _) => "runs.db",
        _ => "10",
    };
    Failure::usage(format!(
        "{given} needs a value; for example --{}={example}",
        spec.name
    ))
}

/// The long name of what was written.
fn name_of(given: &str, options: &OptionValues) -> Result<String, Failure> {
    if let Some(long) = given.strip_prefix("--") {
        return Ok(long.replace('_', "-"));
    }
    let Some(short) = given.strip_prefix('-').filter(|s| !s.is_empty()) else {
        return Err(Failure::usage(format!(
            "unrecognised word {given}: options are written --name=value"
        )));
    };
    let found = SHORT.iter().find(|(name, _)| *name == short);
    if let Some((_, long)) = found {
        return Ok((*long).into());
    }
    // Java's library takes long names with one dash, too.
    let dashed = short.replace('_', "-");
    if options.has(&dashed) || NOT_OFFERED.iter().any(|(name, _)| *name == dashed) {
        return Ok(dashed);
    }
    let known: Vec<String> = SHORT.iter().map(|(s, l)| format!("-{s} (--{l})")).collect();
    let near = nearest(&dashed, options.specs().map(|s| s.name));
    let hint = near.map_or(String::new(), |n| format!("; did you mean --{n}?"));
    Err(Failure::usage(format!(
        "unknown option {given}{hint}; short ones are {}",
        known.join(", ")
    )))
}

fn known<'o>(
    name: &str,
    given: &str,
    options: &'o OptionValues,
) -> Result<&'o OptionSpec, Failure> {
    if let Some((_, instead)) = NOT_OFFERED.iter().find(|(known, _)| *known == name) {
        return Err(Failure::usage(format!(
            "{given} is not supported: {instead}"
        )));
    }
    options.spec(name).map_err(|error| match &error {
        OptionError::Unknown { nearest: None, .. } => {
            Failure::usage(format!("{error}; see: tidemark oltpbench --help"))
        }
        _ => error.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(line: &str) -> OptionValues {
        let words: Vec<String> = line.split_whitespace().map(Into::into).collect();
        match parse(&words) {
            Ok(Invocation::Do(options)) => *options,
            other => panic!("{line}: {other:?}"),
        }
    }

    fn failure(line: &str) -> String {
        let words: Vec<String> = line.split_whitespace().map(Into::into).collect();
        parse(&words).unwrap_err().to_string()
    }

    #[test]
    fn flags_are_taken_as_the_familys_programs_take_them() {
        for line in [
            "-c w.xml --load=true",
            "-c w.xml --load true",
            "-c=w.xml --load",
            "--config w.xml -load --execute=false",
            "--load --config=w.xml",
        ] {
            let o = options(line);
            assert_eq!(
                (o.text("config"), o.flag("load")),
                ("w.xml", true),
                "{line}"
            );
            assert!(!o.flag("execute") && !o.flag("create"), "{line}");
        }
        let o = options(
            "-b tpcc -c config/pg/w.xml --nodes=h1,h2:7000 --create=true --execute=true -im 1000 \
             -s 5 -d out -o run1 --warehouses 20 --start-warehouse-id=11 --total-warehouses=40 \
             --num-connections 7 --loaderthreads=3 --warmup-time-secs=9 --initial-delay-secs 1 \
             --output-raw=false --vv --histograms -t",
        );
        assert_eq!(o.list("nodes"), ["h1", "h2:7000"]);
        assert_eq!((o.uint("interval-monitor"), o.uint("sample")), (1000, 5));
        assert_eq!((o.text("directory"), o.text("output")), ("out", "run1"));
        assert_eq!((o.uint("warehouses"), o.uint("total-warehouses")), (20, 40));
        assert_eq!(o.uint("start-warehouse-id"), 11);
        assert_eq!((o.uint("num-connections"), o.uint("loaderthreads")), (7, 3));
        assert_eq!(o.uint("warmup-time-secs"), 9);
        assert_eq!(o.uint("initial-delay-secs"), 1);
        assert!(!o.flag("output-raw") && o.flag("vv") && o.flag("timestamp"));
    }

    #[test]
    fn what_is_absent_is_as_documented() {
        let o = options("--execute");
        assert_eq!(o.text("config"), "config/workload_all.xml");
        assert_eq!(
            (o.text("directory"), o.text("output")),
            ("results", "oltpbench")
        );
        assert!(o.flag("output-raw") && !o.flag("output-samples"));
        assert_eq!(o.uint("warehouses"), 0);
    }

    #[test]
    fn reports_add_up() {
        let o = options("--execute --report=a.html --report b.md");
        assert_eq!(o.text("report"), "a.html,b.md");
    }

    #[test]
    fn help_is_printed_for_nothing_and_when_asked_for() {
        for line in ["", "-h", "--help", "--load -h"] {
            let words: Vec<String> = line.split_whitespace().map(Into::into).collect();
            assert!(matches!(parse(&words), Ok(Invocation::Help)), "{line}");
        }
    }

    #[test]
    fn mistakes_name_flag_and_nearest() {
        for (line, said) in [
            ("--laod=true", "unknown option --laod; did you mean --load?"),
            ("--load=maybe", "--load=maybe: must be on or off"),
            ("--load -x 1", "unknown option -x"),
            ("--load w.xml", "unrecognised word w.xml"),
            (
                "-c",
                "-c needs a value; for example --config=config/workload_all.xml",
            ),
            (
                "--nodes --load",
                "--nodes needs a value; for example --nodes=h1,h2",
            ),
            ("-c -im 5 --load", "-c needs a value"),
            ("--warehouses -5 --load", "--warehouses=-5: must be"),
            ("-b tatp --load", "--bench=tatp: must be tpcc"),
            ("--load=false", "no step given"),
            ("-c w.xml", "no step given"),
            (
                "--start-warehouse-id=0 --load",
                "--start-warehouse-id=0: must be",
            ),
            ("--enable-foreign-keys=true", "--load adds foreign keys"),
            ("-gpc g.xml --load", "-gpc is not supported"),
            ("--merge-results=true --dir=x", "use --clients"),
            ("--upload=true", "--report=FILE.html"),
        ] {
            let failure = failure(line);
            assert!(failure.contains(said), "{line}: {failure}");
        }
    }
}
