//! Makes a struct of each section of `texts/en.toml` and `texts/zh.toml`, so that a text that is not
//! there does not compile, and fails where the two don't say the same.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt::Write;
use std::{env, fs, path::Path};
use toml::de::DeTable;

type Section = BTreeMap<String, String>;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=texts");
    let (en, zh) = (read("texts/en.toml")?, read("texts/zh.toml")?);
    same("sections", en.keys(), zh.keys())?;
    let mut code = String::new();
    for ((name, en), zh) in en.iter().zip(zh.values()) {
        same(&format!("keys of [{name}]"), en.keys(), zh.keys())?;
        for ((key, en), zh) in en.iter().zip(zh.values()) {
            same(&format!("values of {name}.{key}"), places(en), places(zh))?;
        }
        section(&mut code, name, en, zh)?;
    }
    let folder = env::var("OUT_DIR")?;
    fs::write(Path::new(&folder).join("texts.rs"), code)?;
    Ok(())
}

/// Every text of a language by its section and key.
fn read(file: &str) -> Result<BTreeMap<String, Section>, Box<dyn Error>> {
    let text = fs::read_to_string(file)?;
    let table = DeTable::parse(&text).map_err(|e| format!("{file}: {e}"))?;
    let mut sections = BTreeMap::new();
    for (name, section) in table.get_ref() {
        let keys = section.get_ref().as_table();
        let keys = keys.ok_or_else(|| format!("{file}: {} is no section", name.get_ref()))?;
        let mut texts = Section::new();
        for (key, text) in keys {
            let text = text.get_ref().as_str();
            let text = text.ok_or_else(|| format!("{file}: {} is no text", key.get_ref()))?;
            if text.is_empty() && key.get_ref() != "gap" {
                return Err(format!("{file}: {} is empty", key.get_ref()).into());
            }
            texts.insert(key.get_ref().to_string(), text.into());
        }
        sections.insert(name.get_ref().to_string(), texts);
    }
    Ok(sections)
}

fn same<T: Ord + std::fmt::Debug>(
    what: &str,
    en: impl IntoIterator<Item = T>,
    zh: impl IntoIterator<Item = T>,
) -> Result<(), String> {
    let (en, zh): (BTreeSet<T>, BTreeSet<T>) = (en.into_iter().collect(), zh.into_iter().collect());
    let odd: Vec<&T> = en.symmetric_difference(&zh).collect();
    match odd.is_empty() {
        true => Ok(()),
        false => Err(format!("{what}: only one language has {odd:?}")),
    }
}

/// The values that a text has places for.
fn places(text: &str) -> impl Iterator<Item = &str> {
    let places = text.split('{').skip(1);
    places.filter_map(|part| part.split_once('}')?.0.split('|').next())
}

fn section(code: &mut String, name: &str, en: &Section, zh: &Section) -> std::fmt::Result {
    writeln!(code, "/// Section `{name}`, in a language.")?;
    writeln!(code, "pub(crate) mod {name} {{\npub(crate) struct Texts {{")?;
    for key in en.keys() {
        writeln!(code, "pub {key}: &'static str,")?;
    }
    writeln!(code, "}}")?;
    for (language, texts) in [("EN", en), ("ZH", zh)] {
        writeln!(code, "const {language}: Texts = Texts {{")?;
        for (key, text) in texts {
            writeln!(code, "{key}: {text:?},")?;
        }
        writeln!(code, "}};")?;
    }
    writeln!(
        code,
        "pub(crate) fn of(lang: super::Lang) -> &'static Texts {{\n\
         match lang {{ super::Lang::En => &EN, super::Lang::Zh => &ZH }}\n}}\n}}"
    )
}
