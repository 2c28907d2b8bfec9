//! The command line of `tidemark ycsb`: go-ycsb's, with its property files and properties.

use super::flags::{TARGET, command_line, flags, general};
use super::properties::{CONNECTION, OWN};
use super::property_reader::PropertyReader;
use crate::exit::Failure;
use crate::frontend::StepOptions;
use crate::grammar::{self, value};
use clap::ArgMatches;
use tidemark_core::{
    JobKind, OptionSpec, OptionValues, Protocol, Source, did_you_mean, redact_value,
};
use tidemark_study::StepCommand;
use tidemark_workloads::Definition;

/// A command line, understood.
#[derive(Debug)]
pub enum Invocation {
    /// `--help` or `--version`: this is to be printed.
    Print(String),
    /// A command.
    Do(Box<YcsbCommand>),
}

/// A command with everything that was said about it.
#[derive(Debug)]
pub struct YcsbCommand {
    /// Which.
    pub kind: JobKind,
    /// The protocol of the database, if the word after the command names one.
    pub database: Option<Protocol>,
    /// The words that named database and files, for the command that loads.
    pub words: Vec<String>,
    /// Every option's effective value.
    pub options: OptionValues,
    /// The properties as given, the last of a name only; without passwords.
    pub properties: Vec<(String, String)>,
    /// What the user should know but need not act on.
    pub hints: Vec<String>,
    /// Of that, which files are not there and what is used for them.
    pub stand_ins: Vec<String>,
}

/// Databases by go-ycsb's names.
const DATABASES: &[(&str, Protocol)] = &[
    ("mysql", Protocol::Mysql),
    ("mariadb", Protocol::Mysql),
    ("tidb", Protocol::Mysql),
    ("pg", Protocol::Postgres),
    ("postgresql", Protocol::Postgres),
    ("cockroach", Protocol::Postgres),
    ("cdb", Protocol::Postgres),
    ("sqlite", Protocol::Sqlite),
];

/// Every option, as if none were given.
pub fn defaults(definition: &'static Definition) -> OptionValues {
    let general: Vec<OptionSpec> = general().copied().collect();
    let ours = [OWN, CONNECTION, &general, std::slice::from_ref(&TARGET)];
    OptionValues::defaults(ours.into_iter().chain(definition.options.iter().copied()))
}

/// Understands the words after `ycsb`.
///
/// # Errors
/// [`Failure`] of bad usage: an unknown flag, property, command or database (with the nearest known
/// one), a bad value, a file that can't be read.
pub fn parse(definition: &'static Definition, words: &[String]) -> Result<Invocation, Failure> {
    let program = [String::from("tidemark ycsb")];
    let given = match command_line().try_get_matches_from(program.iter().chain(words)) {
        Ok(given) => given,
        Err(error) if !error.use_stderr() => {
            return Ok(Invocation::Print(crate::help::asked_for(&error)));
        }
        Err(error) => {
            let names = flags()
                .map(|o| o.name)
                .chain(["target", "property_file", "prop"]);
            let enough = "only a command and a database are allowed";
            return Err(grammar::told(&error, "tidemark ycsb", names, enough));
        }
    };
    let kind = kind(&given)?;
    let database = database(&given)?;
    let mut setting = PropertyReader::new(definition, database);
    let mut stand_ins = Vec::new();
    for path in words_of(&given, "property_file") {
        stand_ins.extend(setting.file(&path)?);
    }
    for pair in words_of(&given, "prop") {
        let Some((name, value)) = pair.split_once('=') else {
            return Err(Failure::usage(format!(
                "-p {}: must be name=value; for example -p recordcount=1000",
                redact_value(&pair)
            )));
        };
        setting.given(name.trim(), value)?;
    }
    for spec in flags() {
        if let Some(value) = value(&given, spec) {
            setting
                .options
                .set(spec.name, &value, Source::CommandLine)?;
        }
    }
    if let Some(value) = value(&given, &TARGET) {
        setting.target(&value)?;
    }
    let mut words = vec![];
    words.extend(given.get_one::<String>("DB").cloned());
    for path in words_of(&given, "property_file") {
        words.extend(["-P".into(), path]);
    }
    Ok(Invocation::Do(Box::new(YcsbCommand {
        kind,
        database,
        words,
        options: setting.options,
        properties: setting.properties,
        hints: stand_ins.iter().cloned().chain(setting.hints).collect(),
        stand_ins,
    })))
}

/// The options that a study's step asks for, whose workload is a file of properties.
///
/// # Errors
/// As [`parse`].
pub fn of_step(step: &StepCommand, url: &str) -> Result<StepOptions, Failure> {
    let definition = super::definition()?;
    let mut setting = PropertyReader::new(definition, None);
    let stand_in = setting.file(&step.workload)?;
    for option in step.options.iter().filter(|o| o.is_property) {
        setting.given(&option.name, &option.value)?;
    }
    let values = &mut setting.options;
    for option in step.options.iter().filter(|o| !o.is_property) {
        values.set(&option.name, &option.value, Source::CommandLine)?;
    }
    values.set("target", url, Source::CommandLine)?;
    Ok(StepOptions {
        definition,
        values: setting.options,
        notes: stand_in.into_iter().collect(),
    })
}

fn words_of(given: &ArgMatches, name: &str) -> Vec<String> {
    let words = given.get_many::<String>(name).into_iter().flatten();
    words.cloned().collect()
}

fn kind(given: &ArgMatches) -> Result<JobKind, Failure> {
    const COMMANDS: [(&str, JobKind); 2] = [("load", JobKind::Load), ("run", JobKind::Run)];
    let example = "for example: tidemark ycsb load mysql -P workloada -p recordcount=100000";
    let Some(word) = given.get_one::<String>("COMMAND") else {
        return Err(Failure::usage(format!(
            "no command given; known: load, run; {example}"
        )));
    };
    // go-ycsb takes the beginning of a command, too.
    let begins = |(name, _): &&(&str, JobKind)| !word.is_empty() && name.starts_with(word.as_str());
    match COMMANDS.iter().find(begins) {
        Some((_, kind)) => Ok(*kind),
        None => {
            let hint = did_you_mean(word, COMMANDS.iter().map(|(name, _)| *name));
            Err(Failure::usage(format!(
                "unknown command {word}; known: load, run{hint}"
            )))
        }
    }
}

fn database(given: &ArgMatches) -> Result<Option<Protocol>, Failure> {
    let Some(word) = given.get_one::<String>("DB") else {
        return Ok(None);
    };
    match DATABASES.iter().find(|(name, _)| *name == word.as_str()) {
        Some((_, protocol)) => Ok(Some(*protocol)),
        None => {
            let names: Vec<&str> = DATABASES.iter().map(|(name, _)| *name).collect();
            let hint = did_you_mean(word, names.iter().copied());
            Err(Failure::usage(format!(
                "unknown database {word}; known: {}{hint}",
                names.join(", ")
            )))
        }
    }
}

/// What a command line asks for.
#[cfg(test)]
pub fn asked(line: &str) -> Result<YcsbCommand, Failure> {
    let words: Vec<String> = line.split_whitespace().map(Into::into).collect();
    match parse(super::definition().unwrap(), &words)? {
        Invocation::Do(asked) => Ok(*asked),
        Invocation::Print(text) => panic!("{text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_of_the_manual_is_understood() {
        let asked = asked(
            "run mysql -P workloads/workloada -p operationcount=100000 -p mysql.host=H \
             -p mysql.port=4000 --threads 32",
        )
        .unwrap();
        assert_eq!(
            (asked.kind, asked.database),
            (JobKind::Run, Some(Protocol::Mysql))
        );
        let options = &asked.options;
        for (name, value) in [
            ("operationcount", "100000"),
            ("recordcount", "1000"),
            ("readproportion", "0.5"),
            ("requestdistribution", "zipfian"),
            ("mysql.host", "H"),
            ("mysql.port", "4000"),
            ("threads", "32"),
            ("interval", "10s"),
        ] {
            assert_eq!(options.text(name), value, "{name}");
        }
        assert_eq!(asked.hints, asked.stand_ins);
    }

    #[test]
    fn what_is_said_last_and_nearest_wins() {
        let asked = asked(
            "run pg -P workloada -P workloadb -p threadcount=2 -p threadcount=3 --threads=4 \
             -p table=a --table b -p measurement.interval=5 -p maxexecutiontime=60",
        )
        .unwrap();
        let options = &asked.options;
        assert_eq!(options.text("readproportion"), "0.95");
        assert_eq!(options.uint("threads"), 4);
        assert_eq!(options.text("table"), "b");
        assert_eq!(options.time("interval").as_secs(), 5);
        assert_eq!(options.time("time").as_secs(), 60);
        let threads: Vec<_> = asked
            .properties
            .iter()
            .filter(|(n, _)| n == "threadcount")
            .collect();
        assert_eq!(threads, [&("threadcount".to_string(), "3".to_string())]);
    }

    #[test]
    fn a_target_is_a_throughput_or_a_url() {
        for line in ["run mysql --target 500", "run mysql -p target=500"] {
            let options = asked(line).unwrap().options;
            assert_eq!(options.text("rate"), "500", "{line}");
            assert_eq!(options.text("arrivals"), "constant", "{line}");
        }
        let options = asked("run --target sqlite:x.db --target=0 -p target=0")
            .unwrap()
            .options;
        assert_eq!(
            (options.text("rate"), options.text("arrivals")),
            ("0", "poisson")
        );
        let options = asked("run --target sqlite:x.db").unwrap().options;
        assert_eq!(options.text("target"), "sqlite:x.db");
    }

    #[test]
    fn properties_without_effect_are_told() {
        let hints =
            asked("run sqlite -p silence=false -p redis.addr=h -p mysql.host=x -p workload=core")
                .unwrap()
                .hints;
        assert_eq!(hints.len(), 3, "{hints:?}");
        for (hint, part) in hints
            .iter()
            .zip(["silence (-p)", "redis", "another database"])
        {
            assert!(hint.contains(part), "{hint}");
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_what_is_right() {
        for (line, said) in [
            ("", "no command given; known: load, run"),
            (
                "laod mysql",
                "unknown command laod; known: load, run; did you mean load?",
            ),
            ("shell mysql", "unknown command shell"),
            ("run mysq", "unknown database mysq; known: mysql"),
            ("run tikv", "unknown database tikv"),
            ("run mysql now", "unrecognised word now"),
            ("run mysql -P nofile", "-P nofile"),
            ("run mysql -P worklod", "did you mean -P workload"),
            (
                "run mysql -p recordcount",
                "-p recordcount: must be name=value",
            ),
            (
                "run mysql -p recordcuont=3",
                "unknown property recordcuont (-p); did you mean recordcount?",
            ),
            ("run mysql -p zzz=3", "tidemark ycsb --help lists them"),
            (
                "run mysql -p fieldcount=ten",
                "fieldcount=ten (-p): must be a whole number from 1 to 1000; for example \
                 fieldcount=10",
            ),
            ("run mysql -p threadcount=0", "threadcount=0 (-p)"),
            (
                "run mysql -p target=fast",
                "target=fast (-p): must be a whole number",
            ),
            (
                "run mysql -p workload=sysbench",
                "workload=sysbench (-p): must be core",
            ),
            (
                "run mysql --thraeds 3",
                "unknown flag --thraeds; did you mean --threads?",
            ),
            ("run mysql --threads", "needs a value"),
            ("run mysql --threads 0", "--threads=0"),
        ] {
            let message = asked(line).unwrap_err().message;
            assert!(message.contains(said), "{line}: {message}");
        }
    }

    #[test]
    fn passwords_are_not_among_the_properties_that_are_shown() {
        let asked = asked("run mysql -p mysql.password=geheim").unwrap();
        assert_eq!(
            asked.properties,
            [("mysql.password".to_string(), "***".to_string())]
        );
        assert_eq!(asked.options.text("mysql.password"), "geheim");
    }

    #[test]
    fn a_url_in_the_wrong_place_keeps_its_password() {
        const URL: &str = "mysql://u:geheim@h/db";
        for line in [
            format!("run mysql -p target={URL}"),
            format!("run mysql -p workload={URL}"),
            format!("run mysql -p threadcount={URL}"),
            format!("run mysql -p {URL}"),
        ] {
            let message = asked(&line).unwrap_err().message;
            assert!(message.contains("mysql://u:***@h/db"), "{message}");
            assert!(!message.contains("geheim"), "{message}");
        }
        let shown = asked(&format!("run mysql -p keyprefix={URL}")).unwrap();
        assert!(!format!("{:?}", shown.properties).contains("geheim"));
    }
}
