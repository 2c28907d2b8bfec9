//! Command lines of tests of the machine.

use super::super::config_file;
use super::super::settings::{self, resolve};
use super::options::{HostTestRow, OF_DATABASES, TESTS, defaults, is_without_effect};
use crate::exit::Failure;
use tidemark_core::{OptionError, OptionKind, OptionValues, Source, did_you_mean};

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostCommand {
    /// Makes files.
    Prepare,
    /// Measures.
    Run,
    /// Removes files.
    Cleanup,
    /// Lists options.
    Help,
}

const COMMANDS: &[(&str, HostCommand)] = &[
    ("prepare", HostCommand::Prepare),
    ("run", HostCommand::Run),
    ("cleanup", HostCommand::Cleanup),
    ("help", HostCommand::Help),
];

/// Options of several client hosts.
const OF_CLIENTS: &[&str] = &["clients", "nats", "nats-ca", "nats-creds", "on-client-loss"];

/// A command line, understood.
#[derive(Debug)]
pub struct HostTestCommand {
    /// The test.
    pub test: &'static HostTestRow,
    /// What is to be done.
    pub command: HostCommand,
    /// Its options.
    pub options: OptionValues,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// Understands a command line, if it is one of a test of the machine.
///
/// # Errors
/// [`Failure`] of bad usage: unknown option or command (with the nearest known one), bad value,
/// unreadable configuration file.
pub fn asked(args: &[String]) -> Result<Option<HostTestCommand>, Failure> {
    let (mut given, mut words) = split(args);
    // As sysbench 0.4 named the test.
    if let Some(at) = given.iter().position(|(name, _)| name == "test") {
        words.insert(0, given.remove(at).1.unwrap_or_default());
    }
    let test = words
        .first()
        .and_then(|word| TESTS.iter().find(|t| t.name == word));
    let Some(test) = test else {
        return Ok(None);
    };
    let asks = |name: &str| given.iter().any(|(given, _)| given == name);
    if asks("version") {
        return Ok(None);
    }
    let command = match asks("help") {
        true => HostCommand::Help,
        false => command(test, &words)?,
    };
    let mut options = defaults(test);
    let mut warnings = Vec::new();
    for (name, value) in given {
        set(&mut options, test, &name, value.as_deref(), &mut warnings)?;
        if name == "config-file" {
            let path = options.text("config-file").to_string();
            for (name, value) in config_file::read(path.as_ref())? {
                let name = resolve(&name).0;
                // A file may serve several tests, and scripts.
                let elsewhere = settings::belongs_elsewhere(&name) || kind(&name).is_some();
                if !options.has(&name) && elsewhere {
                    continue;
                }
                options
                    .set(&name, &value, Source::ConfigFile)
                    .map_err(|e| Failure::usage(format!("--config-file={path}: {e}")))?;
            }
        }
    }
    Ok(Some(HostTestCommand {
        test,
        command,
        options,
        warnings,
    }))
}

fn command(test: &HostTestRow, words: &[String]) -> Result<HostCommand, Failure> {
    let name = test.name;
    let known = || {
        let mut known = COMMANDS.iter().map(|(word, _)| *word);
        let known = known
            .by_ref()
            .filter(|word| test.has_files || !["prepare", "cleanup"].contains(word));
        known.collect::<Vec<_>>().join(", ")
    };
    match words {
        [_, word] => match COMMANDS.iter().find(|(known, _)| known == word) {
            Some((_, HostCommand::Prepare | HostCommand::Cleanup)) if !test.has_files => {
                Err(Failure::usage(format!(
                    "{name} has nothing to {word}; known: {}; for example: tidemark sysbench {name} run",
                    known()
                )))
            }
            Some((_, command)) => Ok(*command),
            None => {
                let hint = did_you_mean(word, COMMANDS.iter().map(|(word, _)| *word));
                Err(Failure::usage(format!(
                    "unknown command {word}; known: {}{hint}",
                    known()
                )))
            }
        },
        [_, _, extra, ..] => Err(Failure::usage(format!(
            "unrecognised word {extra}: options are written --name=value"
        ))),
        _ => Err(Failure::usage(format!(
            "{name}: no command given; known: {}; for example: tidemark sysbench {name} run",
            known()
        ))),
    }
}

fn set(
    options: &mut OptionValues,
    test: &HostTestRow,
    name: &str,
    value: Option<&str>,
    warnings: &mut Vec<String>,
) -> Result<(), Failure> {
    let (name, deprecated) = resolve(name);
    if deprecated {
        warnings.push(format!(
            "--{name} was set by a deprecated name; use --{name}"
        ));
    }
    let wants_value = kind(&name).is_some_and(|kind| kind != OptionKind::Bool);
    if value.is_none() && wants_value {
        return Err(Failure::usage(format!(
            "--{name} needs a value; for example --{name}={}",
            options.spec(&name).map_or("VALUE", |spec| spec.default)
        )));
    }
    let value = value.unwrap_or("on");
    if !options.has(&name) && is_without_effect(&name) {
        warnings.push(format!("--{name} has no effect on {}", test.name));
        return Ok(());
    }
    if OF_CLIENTS.contains(&&*name) {
        return Err(Failure::usage(format!(
            "--{name} is for loads of databases; {} tests this machine: run it on each host, and compare \
             their records",
            test.name
        )));
    }
    if !options.has(&name) && OF_DATABASES.contains(&&*name) {
        return Err(Failure::usage(format!(
            "--{name} is for databases; {} tests this machine. See: tidemark sysbench {} help",
            test.name, test.name
        )));
    }
    // Reports add up; everything else is as it was said last.
    let before = options.text("report").to_string();
    let adds = name == "report" && !before.is_empty() && !value.is_empty();
    let value = match adds && options.source("report") == Source::CommandLine {
        true => format!("{before},{value}"),
        false => value.to_string(),
    };
    let done = options.set(&name, &value, Source::CommandLine);
    done.map_err(|error| match &error {
        OptionError::Unknown { .. } if kind(&name).is_some() => Failure::usage(format!(
            "--{name} is not an option of {}; see: tidemark sysbench {} help",
            test.name, test.name
        )),
        OptionError::Unknown { nearest: None, .. } => Failure::usage(format!(
            "{error}; see: tidemark sysbench {} help",
            test.name
        )),
        _ => Failure::usage(error.to_string()),
    })
}

/// The kind of an option of any test or script.
fn kind(name: &str) -> Option<OptionKind> {
    let mut own = TESTS.iter().flat_map(|test| test.options);
    let own = own.find(|spec| spec.name == name).map(|spec| spec.kind);
    own.or_else(|| settings::kind(name))
}

/// An option as it stands.
type Given = (String, Option<String>);

/// Cuts a command line into options and words.
fn split(args: &[String]) -> (Vec<Given>, Vec<String>) {
    let (mut given, mut words) = (Vec::new(), Vec::new());
    let mut args = args.iter().peekable();
    while let Some(arg) = args.next() {
        let Some(option) = arg.strip_prefix("--") else {
            words.push(arg.clone());
            continue;
        };
        let (name, mut value) = match option.split_once('=') {
            Some((name, value)) => (name, Some(value.to_string())),
            None => (option, None),
        };
        let name = name.replace('_', "-");
        let wants = kind(&resolve(&name).0).is_some_and(|kind| kind != OptionKind::Bool);
        if value.is_none() && (wants || name == "test") {
            value = args.next_if(|next| !next.starts_with("--")).cloned();
        }
        given.push((name, value));
    }
    (given, words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(Into::into).collect()
    }

    fn understood(line: &str) -> HostTestCommand {
        asked(&words(line)).unwrap().unwrap()
    }

    fn refused(line: &str) -> String {
        asked(&words(line)).unwrap_err().to_string()
    }

    #[test]
    fn tests_are_told_from_scripts() {
        for line in [
            "oltp_read_write run",
            "--mysql-db cpu oltp_read_write run",
            "cpu.lua run",
            "--version",
        ] {
            assert!(asked(&words(line)).unwrap().is_none(), "{line}");
        }
        for line in [
            "cpu run",
            "--threads=4 cpu run",
            "--threads 4 cpu run",
            "--test=cpu run --cpu_max_prime=100",
        ] {
            let asked = understood(line);
            assert_eq!(
                (asked.test.name, asked.command),
                ("cpu", HostCommand::Run),
                "{line}"
            );
        }
    }

    #[test]
    fn sizes_and_old_names_are_read_as_sysbench_does() {
        let asked = understood("fileio --file-total-size=1G --max-time=5 --mysql-host=h prepare");
        assert_eq!(asked.options.uint("file-total-size"), 1 << 30);
        assert_eq!(asked.options.uint("time"), 5);
        let warnings = asked.warnings.join("; ");
        assert!(
            warnings.contains("--time was set by a deprecated name"),
            "{warnings}"
        );
        assert!(
            warnings.contains("--mysql-host has no effect on fileio"),
            "{warnings}"
        );
    }

    #[test]
    fn mistakes_name_the_nearest() {
        for (line, said) in [
            (
                "cpu runn",
                "unknown command runn; known: run, help; did you mean run?",
            ),
            ("cpu prepare", "cpu has nothing to prepare"),
            ("cpu", "no command given"),
            ("cpu --cpu-max-prim=5 run", "did you mean --cpu-max-prime?"),
            ("cpu --file-num=5 run", "--file-num is not an option of cpu"),
            ("cpu --inject-rtt=5ms run", "--inject-rtt is for databases"),
            ("cpu --clients=3 run", "run it on each host"),
            ("cpu --nats=nats://h:4222 run", "run it on each host"),
            ("cpu --threads=0 run", "--threads=0"),
            ("cpu --cpu-max-prime=0 run", "--cpu-max-prime=0"),
            ("fileio --file-test-mode=rndwrr run", "did you mean rndwr"),
            ("memory --memory-oper=x run", "read, write, none"),
            ("cpu --threads", "no command given"),
            ("cpu run --threads", "--threads needs a value"),
            ("cpu run 5", "unrecognised word 5"),
        ] {
            let text = refused(line);
            assert!(text.contains(said), "{line}: {text}");
        }
    }
}
