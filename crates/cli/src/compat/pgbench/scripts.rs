//! Which scripts a command line chooses.

use crate::exit::Failure;
use clap::ArgMatches;
use tidemark_files::{LONGEST_CONFIGURATION, read_text};
use tidemark_workloads::pgbench::{BUILTINS, ScriptChoice, builtin_named};

/// What `--builtin=list` prints.
pub fn list() -> String {
    let lines = BUILTINS.iter().map(|b| {
        let title = b.title.trim_start_matches('<').trim_end_matches('>');
        format!("  {:>13}: <{title}>\n", b.name)
    });
    format!("Available builtin scripts:\n{}", lines.collect::<String>())
}

/// A name and the weight behind its last `@`.
fn weighted<'w>(flag: &str, word: &'w str) -> Result<(&'w str, Option<u32>), Failure> {
    let Some((name, weight)) = word.rsplit_once('@') else {
        return Ok((word, None));
    };
    match weight.parse() {
        Ok(weight) if i32::try_from(weight).is_ok() => Ok((name, Some(weight))),
        _ => Err(Failure::usage(format!(
            "--{flag}={word}: the weight behind @ must be a whole number from 0 to {}; for example \
             --{flag}={name}@2",
            i32::MAX
        ))),
    }
}

fn built_in(flag: &str, word: &str) -> Result<ScriptChoice, Failure> {
    let (name, weight) = weighted(flag, word)?;
    Ok(ScriptChoice {
        builtin: Some(builtin_named(name)?.name.into()),
        weight,
        ..ScriptChoice::default()
    })
}

fn of_file(word: &str) -> Result<ScriptChoice, Failure> {
    let (path, weight) = weighted("file", word)?;
    let text = read_text(path.as_ref(), LONGEST_CONFIGURATION)
        .map_err(|e| Failure::usage(format!("--file={path}: {e}")))?;
    Ok(ScriptChoice {
        file: Some(path.into()),
        text: Some(text),
        weight,
        ..ScriptChoice::default()
    })
}

/// Makes a choice of a word.
type Choose = fn(&str, &str) -> Result<ScriptChoice, Failure>;

/// The flags that choose scripts.
const FLAGS: [(&str, Choose); 4] = [
    ("builtin", built_in),
    ("file", |_, word| of_file(word)),
    ("skip-some-updates", |flag, _| {
        built_in(flag, "simple-update")
    }),
    ("select-only", |flag, _| built_in(flag, "select-only")),
];

/// The scripts in the order of their flags, as the option `scripts` has them; none when no flag chose
/// any.
///
/// # Errors
/// [`Failure`] of bad usage, naming the script or file.
pub fn chosen(given: &ArgMatches) -> Result<Option<String>, Failure> {
    let mut found = Vec::new();
    for (flag, choose) in FLAGS {
        let words = given.get_many::<String>(flag).into_iter().flatten();
        let places = given.indices_of(flag).into_iter().flatten();
        for (place, word) in places.zip(words) {
            let is_switch = !["builtin", "file"].contains(&flag);
            if !is_switch || word == "on" {
                found.push((place, choose(flag, word)?));
            }
        }
    }
    found.sort_by_key(|(place, _)| *place);
    let choices: Vec<ScriptChoice> = found.into_iter().map(|(_, choice)| choice).collect();
    match choices.is_empty() {
        true => Ok(None),
        false => Ok(Some(written(&choices))),
    }
}

/// Scripts as the option has them.
pub fn written(choices: &[ScriptChoice]) -> String {
    // Texts and numbers can always be written.
    serde_json::to_string(choices).unwrap_or_default()
}

/// The one built-in script of an option's value, if it is that.
pub fn only_builtin(scripts: &str) -> Option<String> {
    let choices: Vec<ScriptChoice> = serde_json::from_str(scripts).ok()?;
    match choices.as_slice() {
        [
            ScriptChoice {
                builtin: Some(name),
                weight: None,
                ..
            },
        ] => Some(name.clone()),
        _ => None,
    }
}
