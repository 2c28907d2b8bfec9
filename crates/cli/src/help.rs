//! What pages of help share: the overview, the examples that open each page, exit codes, and the order
//! of options.

mod chinese;

use crate::compat::FRONTENDS;
use crate::exit::ExitCode;
use crate::frontend::Frontend;
use crate::messages;
use std::borrow::Cow;

/// Command lines that work as they stand.
pub type Examples = [&'static str; 2];

/// What titles of Tidemark's own options begin with, in commands of other tools.
pub const OWN: &str = "Tidemark's own";
/// Tidemark's own options that every such command has.
pub const OWN_GENERAL: &str = "Tidemark's own: all benchmarks";
/// Tidemark's own options of a workload.
pub const OWN_WORKLOAD: &str = "Tidemark's own: workload";
const MOST_USED: &str = "Most used";
const MOST_USED_OWN: &str = "Most used of Tidemark's own";

/// Examples of each command whose grammar is clap's.
const EXAMPLES: &[(&str, Examples)] = &[
    (
        "demo",
        ["tidemark demo", "tidemark demo --time=5 --overwrite"],
    ),
    (
        "exec",
        [
            "tidemark exec --from last",
            "tidemark exec --from last --print-job",
        ],
    ),
    ("schema", ["tidemark schema job", "tidemark schema record"]),
    (
        "study",
        [
            "tidemark study plan studies/quick-sqlite.toml",
            "tidemark study run studies/quick-sqlite.toml",
        ],
    ),
    (
        "study plan",
        [
            "tidemark study plan studies/quick-sqlite.toml",
            "tidemark study plan studies/thread-sweep.toml",
        ],
    ),
    (
        "study run",
        [
            "tidemark study run studies/quick-sqlite.toml",
            "tidemark study run --anew studies/quick-sqlite.toml",
        ],
    ),
    (
        "study resume",
        [
            "tidemark study resume",
            "tidemark study resume last --retry-failed",
        ],
    ),
    (
        "study status",
        ["tidemark study status", "tidemark study status last"],
    ),
    (
        "diagnose",
        [
            "tidemark diagnose --from last --budget 20s",
            "tidemark diagnose --from last --budget 30s --format json",
        ],
    ),
    (
        "watch",
        [
            "tidemark watch sqlite:bench.db --time 5s",
            "tidemark watch \"$(tidemark up mariadb --url)\" --time 10s",
        ],
    ),
    (
        "agent",
        [
            "tidemark agent --nats nats://load0:4222",
            "tidemark agent --nats tls://load0:4222 --nats-creds load.creds --name load-1",
        ],
    ),
    (
        "agents",
        [
            "tidemark agents --nats nats://load0:4222",
            "tidemark agents start load1 load2 --nats nats://load0:4222",
        ],
    ),
    (
        "agents start",
        [
            "tidemark agents start load1 load2 --nats nats://load0:4222",
            "tidemark agents start load1 --ssh 'ssh -p 2222' --nats nats://load0:4222",
        ],
    ),
    (
        "attach",
        [
            "tidemark attach --nats nats://load0:4222",
            "tidemark attach --nats nats://load0:4222 660a",
        ],
    ),
    (
        "workloads",
        [
            "tidemark workloads",
            "tidemark sysbench oltp_read_write help",
        ],
    ),
    (
        "runs",
        [
            "tidemark runs",
            "tidemark runs --workload oltp_read_write --since 7d",
        ],
    ),
    ("show", ["tidemark show last", "tidemark show last --json"]),
    (
        "report",
        [
            "tidemark report last",
            "tidemark report last --format md --out -",
        ],
    ),
    (
        "compare",
        [
            "tidemark compare tag:before tag:after",
            "tidemark compare tag:before tag:after --format md",
        ],
    ),
    ("tag", ["tidemark tag last +before", "tidemark tag"]),
    (
        "note",
        [
            "tidemark note last 'after the index change'",
            "tidemark note last",
        ],
    ),
    (
        "delete",
        [
            "tidemark delete last --yes",
            "tidemark delete --tag before --yes",
        ],
    ),
    (
        "export",
        [
            "tidemark export last --out run.json",
            "tidemark export last --out run.csv",
        ],
    ),
    (
        "import",
        [
            "tidemark import run.json",
            "tidemark import run.json --store copy.db",
        ],
    ),
    (
        "audit",
        ["tidemark audit last", "tidemark audit run.json --lang zh"],
    ),
    (
        "store",
        [
            "tidemark store check",
            "tidemark store check --store copy.db",
        ],
    ),
    (
        "store check",
        [
            "tidemark store check",
            "tidemark store check --store copy.db",
        ],
    ),
    (
        "up",
        [
            "tidemark up mariadb",
            "tidemark up postgres --set shared_buffers=256MB",
        ],
    ),
    ("down", ["tidemark down mariadb", "tidemark down --all"]),
    (
        "doctor",
        [
            "tidemark doctor sqlite:bench.db",
            "tidemark doctor \"$(tidemark up mariadb --url)\"",
        ],
    ),
    (
        "completions",
        [
            "tidemark completions bash",
            "tidemark completions fish > tidemark.fish",
        ],
    ),
    (
        "man",
        ["tidemark man man1", "tidemark man ~/.local/share/man/man1"],
    ),
];

/// Commands by what they are for. Those with command lines of their own are benchmarks: Tidemark's
/// stand before these, and those of families that a program adds behind them.
const GROUPS: &[(&str, &[&str])] = &[
    (
        "Start here (first: tidemark demo)",
        &["demo", "up", "down", "doctor"],
    ),
    (
        BENCHMARKS,
        &["exec", "study", "diagnose", "watch", "workloads"],
    ),
    ("Several client hosts", &["agent", "agents", "attach"]),
    (
        "Results",
        &[
            "runs", "show", "report", "compare", "tag", "note", "delete", "export", "import",
            "audit", "store",
        ],
    ),
    ("Tidemark itself", &["schema", "completions", "man"]),
];

const BENCHMARKS: &str = "Benchmarks";

/// The commands of a group, in order.
fn names_of((title, names): &(&'static str, &'static [&'static str])) -> Vec<&'static str> {
    let frontends: &[Frontend] = match *title {
        BENCHMARKS => FRONTENDS,
        _ => &[],
    };
    let words = frontends.iter().map(|f| f.word);
    words.chain(names.iter().copied()).collect()
}

/// No page is wider, in columns: clap's own limit.
const WIDEST: usize = 100;

/// A command whose pages [`in_language`] can take: a text of clap's is in one line then.
pub fn for_language(command: clap::Command) -> clap::Command {
    match messages::is_translated() {
        true => unwrapped(command),
        false => command,
    }
}

/// No text is wrapped.
fn unwrapped(command: clap::Command) -> clap::Command {
    command.term_width(usize::MAX)
}

/// A page, or a line of a version, in the user's language.
pub fn in_language(page: &str) -> Cow<'_, str> {
    match messages::is_translated() {
        true => Cow::Owned(chinese::page(page, width().min(WIDEST))),
        false => Cow::Borrowed(page),
    }
}

/// The page, or the version, that clap was asked for, in the user's language and without colours.
pub fn asked_for(page: &clap::Error) -> String {
    in_language(&page.render().to_string()).into_owned()
}

fn width() -> usize {
    let columns = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok());
    let of_terminal = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    of_terminal
        .or(columns)
        .filter(|width| *width > 20)
        .unwrap_or(WIDEST)
}

/// The page of the whole program.
pub fn overview(program: &clap::Command) -> String {
    let grouped: Vec<&str> = GROUPS.iter().flat_map(names_of).collect();
    let added = |title: &str| {
        let shown = |c: &&clap::Command| !c.is_hide_set();
        let all = program
            .get_subcommands()
            .filter(shown)
            .map(clap::Command::get_name);
        let more = all.filter(|name| title == BENCHMARKS && !grouped.contains(name));
        more.map(str::to_string).collect::<Vec<_>>()
    };
    let about = |name: &str| {
        let found = program.find_subcommand(name);
        found.and_then(|c| c.get_about()).map(ToString::to_string)
    };
    let group = |of: &(&'static str, &'static [&'static str])| {
        let (title, _) = of;
        let names = names_of(of).into_iter().map(str::to_string);
        let names = names.chain(added(title));
        let line = |name: String| {
            let about = about(&name).unwrap_or_default();
            format!("  {name:<11}  {about}\n")
        };
        format!("\n{title}:\n{}", names.map(line).collect::<String>())
    };
    let about = program.get_about().map(ToString::to_string);
    format!(
        "{}\nUsage: tidemark COMMAND [OPTIONS]    Options of a command: tidemark COMMAND --help\n{}\n\
         Version: tidemark --version. Exit codes: docs/cli.md, or the page of `tidemark man`.\n",
        about.unwrap_or_default(),
        GROUPS.iter().map(group).collect::<String>(),
    )
}

/// Opens the page of each command below this one, whose words are `path`, with its examples.
pub fn with_examples(command: clap::Command, path: &str) -> clap::Command {
    let names: Vec<String> = command
        .get_subcommands()
        .map(|c| c.get_name().to_string())
        .collect();
    names.into_iter().fold(command, |command, name| {
        let path = format!("{path} {name}").trim().to_string();
        command.mut_subcommand(name, |below| {
            let below = match EXAMPLES.iter().find(|(of, _)| *of == path) {
                Some((_, examples)) => opened_with(below, examples),
                None => below,
            };
            with_examples(below, &path)
        })
    })
}

/// A command whose page opens with examples.
pub fn opened_with(command: clap::Command, examples: &Examples) -> clap::Command {
    for_language(command.before_help(shown(examples)).help_template(
        "{about-with-newline}\n{before-help}{usage-heading} {usage}\n\n{all-args}{after-help}",
    ))
}

/// Examples as pages have them.
pub fn shown(examples: &Examples) -> String {
    format!("Examples:\n  {}", examples.join("\n  "))
}

/// Exit codes as pages have them.
pub fn exit_codes() -> String {
    let line = |(code, meaning): &(ExitCode, &str)| format!("\n  {:3}  {meaning}", *code as u8);
    let lines: String = ExitCode::ALL.iter().map(line).collect();
    format!("Exit codes:{lines}")
}

/// Every example, with the command it belongs to.
#[cfg(test)]
fn examples() -> impl Iterator<Item = (&'static str, Examples)> {
    let of_tools = crate::frontend::all().map(|f| (f.word, f.examples));
    EXAMPLES.iter().copied().chain(of_tools)
}

/// Options under titles, those that people use first before the others, and Tidemark's own behind the
/// tool's. An item is its title, its name and what it is.
pub fn most_used_first<T>(
    most_used: &[&str],
    items: impl IntoIterator<Item = (&'static str, &'static str, T)>,
) -> Vec<(&'static str, T)> {
    let place = |(title, name, item): (&'static str, &'static str, T)| {
        let own = title.starts_with(OWN);
        match (most_used.iter().position(|n| *n == name), own) {
            (Some(at), false) => ((0, at), MOST_USED, item),
            (Some(at), true) => ((1, at), MOST_USED_OWN, item),
            (None, false) => ((2, 0), title, item),
            (None, true) => ((3, 0), title, item),
        }
    };
    let mut placed: Vec<_> = items.into_iter().map(place).collect();
    placed.sort_by_key(|(place, ..)| *place);
    let shown = placed.into_iter().map(|(_, title, item)| (title, item));
    shown.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args;

    fn pages(command: &clap::Command, path: &str, found: &mut Vec<String>) {
        for below in command.get_subcommands().filter(|c| !c.is_hide_set()) {
            let path = format!("{path} {}", below.get_name()).trim().to_string();
            pages(below, &path, found);
            found.push(path);
        }
    }

    #[test]
    fn every_page_has_examples_and_a_place_in_the_overview() {
        let program = args::command();
        let mut found = Vec::new();
        pages(&program, "", &mut found);
        for path in &found {
            assert!(examples().any(|(of, _)| of == path), "{path}");
        }
        for (of, _) in examples() {
            assert!(found.iter().any(|path| path == of), "{of} is no command");
        }
        let shown = |c: &&clap::Command| !c.is_hide_set();
        let top = program
            .get_subcommands()
            .filter(shown)
            .map(clap::Command::get_name);
        for name in top {
            let places = GROUPS.iter().flat_map(names_of).filter(|n| *n == name);
            assert_eq!(places.count(), 1, "{name}");
        }
    }

    #[test]
    fn the_overview_fits_a_screen() {
        let text = overview(&args::command());
        let lines = text.lines().count();
        assert!((24..=46).contains(&lines), "{lines} lines");
        let widest = text.lines().map(|l| l.chars().count()).max();
        assert!(widest.is_some_and(|w| w <= 100), "{widest:?}");
    }
}
