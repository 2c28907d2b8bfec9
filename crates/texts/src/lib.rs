//! Texts in two languages as data, for build scripts: a crate's `texts/en.toml` and `texts/zh.toml`.
//!
//! A build script makes Rust of them ([`sections`], [`functions`], [`write()`]), so that a text that is not there does
//! not compile. Both languages have the same keys, and places for the same values: `{name}` stands for
//! one, `{name|one|many}` for a word that goes with a number.
//!
//! ```
//! let folder = tempfile::tempdir()?;
//! std::fs::create_dir(folder.path().join("texts"))?;
//! let put = |file: &str, text: &str| std::fs::write(folder.path().join("texts").join(file), text);
//! put("en.toml", "[run]\nended = \"ended after {seconds} s\"")?;
//! put("zh.toml", "[run]\nended = \"{seconds} 秒后结束\"")?;
//! assert_eq!(tidemark_texts::sections(folder.path())?[0].texts[0].key, "ended");
//! // A place that one language lacks.
//! put("zh.toml", "[run]\nended = \"已结束\"")?;
//! assert!(tidemark_texts::sections(folder.path()).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::path::Path;
use std::{env, fs};
use toml::de::DeTable;

/// Texts that belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Its header.
    pub name: String,
    /// By their keys.
    pub texts: Vec<Text>,
}

/// One text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// Its key.
    pub key: String,
    /// In English.
    pub en: String,
    /// In Chinese.
    pub zh: String,
}

/// Why there are no texts: the file or the key, and what is wrong with it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Error(String);

impl Error {
    fn of(what: impl Display, why: impl Display) -> Self {
        Self(format!("{what}: {why}"))
    }
}

type Texts = BTreeMap<String, BTreeMap<String, String>>;

/// The texts of the crate in this folder, by section and key.
///
/// # Errors
/// [`Error`] for what is no text, and where the languages don't say the same.
pub fn sections(folder: &Path) -> Result<Vec<Section>, Error> {
    let (en, zh) = (
        read(&folder.join("texts/en.toml"))?,
        read(&folder.join("texts/zh.toml"))?,
    );
    same("sections", en.keys(), zh.keys())?;
    let section =
        |((name, en), zh): ((String, BTreeMap<String, String>), BTreeMap<String, String>)| {
            same(&format!("keys of [{name}]"), en.keys(), zh.keys())?;
            let mut texts = Vec::new();
            for ((key, en), zh) in en.into_iter().zip(zh.into_values()) {
                let (of_en, of_zh) = (places(&en), places(&zh));
                let odd = of_en.values.difference(&of_zh.all);
                let odd = odd.chain(of_zh.values.difference(&of_en.all));
                none(&format!("values of {name}.{key}"), odd.copied())?;
                texts.push(Text { key, en, zh });
            }
            Ok(Section { name, texts })
        };
    en.into_iter().zip(zh.into_values()).map(section).collect()
}

/// Texts that stand in code in English, each with its translation: a file of `"English" = "translation"`
/// in sections, whose names only sort it.
///
/// # Errors
/// [`Error`] for what is no text, and for a text that is translated twice.
///
/// ```
/// let file = tempfile::NamedTempFile::new()?;
/// std::fs::write(file.path(), "[times]\n\"Seconds to measure\" = \"测量时长（秒）\"")?;
/// let translations = tidemark_texts::translations(file.path())?;
/// assert_eq!(translations["Seconds to measure"], "测量时长（秒）");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn translations(file: &Path) -> Result<BTreeMap<String, String>, Error> {
    let mut all = BTreeMap::new();
    for (english, translation) in read(file)?.into_values().flatten() {
        if all.contains_key(&english) {
            return Err(Error::of(
                file.display(),
                format!("{english:?} is there twice"),
            ));
        }
        all.insert(english, translation);
    }
    Ok(all)
}

/// A module of each section, with a function of each text. Its parameters are the language, a `Lang`
/// that stands beside the modules, and the text's values in the order in which English has them.
///
/// ```
/// use tidemark_texts::{Section, Text, functions};
/// let text = Text {
///     key: "ended".into(),
///     en: "{runs} {runs|run|runs} ended".into(),
///     zh: "{runs} 次压测已结束".into(),
/// };
/// let code = functions(&[Section { name: "run".into(), texts: vec![text] }]);
/// assert!(code.contains("pub fn ended(lang: Lang, runs: impl std::fmt::Display) -> String"));
/// ```
pub fn functions(sections: &[Section]) -> String {
    let of_section = |section: &Section| {
        let functions: String = section.texts.iter().map(function).collect();
        format!(
            "pub mod {} {{\nuse super::Lang;\n{functions}}}\n",
            section.name
        )
    };
    sections.iter().map(of_section).collect()
}

fn function(text: &Text) -> String {
    let name = &text.key;
    let (en, values) = formatted(&text.en);
    let (zh, _) = formatted(&text.zh);
    if values.is_empty() {
        return format!(
            "pub fn {name}(lang: Lang) -> &'static str {{\n\
             match lang {{ Lang::En => {:?}, Lang::Zh => {:?} }}\n}}\n",
            text.en, text.zh
        );
    }
    let parameters = values
        .iter()
        .map(|value| format!(", {value}: impl std::fmt::Display"));
    format!(
        "pub fn {name}(lang: Lang{}) -> String {{\n\
         match lang {{ Lang::En => format!({en}), Lang::Zh => format!({zh}) }}\n}}\n",
        parameters.collect::<String>()
    )
}

/// A text as the arguments of `format!`, and its values' names.
fn formatted(text: &str) -> (String, Vec<&str>) {
    let (mut template, mut words, mut values) = (String::new(), String::new(), Vec::new());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        template += before;
        let (place, after) = after.split_once('}').unwrap_or((after, ""));
        let mut parts = place.split('|');
        let value = parts.next().unwrap_or_default();
        match (parts.next(), parts.next()) {
            (Some(one), Some(many)) => {
                let word = format!("word_{}", words.len());
                words += &format!(
                    ", {word} = if {value}.to_string() == \"1\" {{ {one:?} }} else {{ {many:?} }}"
                );
                template += &format!("{{{word}}}");
            }
            _ => template += &format!("{{{value}}}"),
        }
        if !values.contains(&value) {
            values.push(value);
        }
        rest = after;
    }
    template += rest;
    (format!("{template:?}{words}"), values)
}

/// Writes code to where `include!(concat!(env!("OUT_DIR"), "/texts.rs"))` finds it.
///
/// # Errors
/// [`Error`] when Cargo names no folder, or the file can't be written.
pub fn write(code: &str) -> Result<(), Error> {
    println!("cargo::rerun-if-changed=texts");
    let folder = env::var("OUT_DIR").map_err(|e| Error::of("OUT_DIR", e))?;
    let path = Path::new(&folder).join("texts.rs");
    fs::write(&path, code).map_err(|e| Error::of(path.display(), e))
}

fn read(path: &Path) -> Result<Texts, Error> {
    let wrong = |why: &dyn Display| Error::of(path.display(), why);
    let text = fs::read_to_string(path).map_err(|e| wrong(&e))?;
    let table = DeTable::parse(&text).map_err(|e| wrong(&e))?;
    let mut sections = Texts::new();
    for (name, section) in table.get_ref() {
        let name = name.get_ref();
        let keys = section.get_ref().as_table();
        let keys = keys.ok_or_else(|| wrong(&format!("{name} is no section")))?;
        let texts = sections.entry(name.to_string()).or_default();
        for (key, text) in keys {
            let key = key.get_ref();
            let text = text.get_ref().as_str();
            // Chinese has no gap between sentences.
            let text = text.filter(|text| !text.is_empty() || key == "gap");
            let text = text.ok_or_else(|| wrong(&format!("{name}.{key} is no text")))?;
            texts.insert(key.to_string(), text.into());
        }
    }
    Ok(sections)
}

fn same<'a>(
    what: &str,
    en: impl Iterator<Item = impl AsRef<str> + 'a>,
    zh: impl Iterator<Item = impl AsRef<str> + 'a>,
) -> Result<(), Error> {
    let en: BTreeSet<String> = en.map(|e| e.as_ref().into()).collect();
    let zh: BTreeSet<String> = zh.map(|z| z.as_ref().into()).collect();
    none(what, en.symmetric_difference(&zh).map(String::as_str))
}

fn none<'a>(what: &str, odd: impl Iterator<Item = &'a str>) -> Result<(), Error> {
    let odd: Vec<&str> = odd.collect();
    match odd.is_empty() {
        true => Ok(()),
        false => {
            let odd = format!("only one language has {}", odd.join(", "));
            Err(Error::of(what, odd))
        }
    }
}

/// What a text has places for: values, and words that go with a number, which are a language's own.
struct Places<'t> {
    values: BTreeSet<&'t str>,
    all: BTreeSet<&'t str>,
}

fn places(text: &str) -> Places<'_> {
    let places = text.split('{').skip(1);
    let places = places.filter_map(|part| Some(part.split_once('}')?.0));
    Places {
        values: places
            .clone()
            .filter(|place| !place.contains('|'))
            .collect(),
        all: places.filter_map(|place| place.split('|').next()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(en: &str, zh: &str) -> Result<Vec<Section>, String> {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("texts")).unwrap();
        for (name, text) in [("en", en), ("zh", zh)] {
            fs::write(folder.path().join(format!("texts/{name}.toml")), text).unwrap();
        }
        sections(folder.path()).map_err(|e| e.to_string())
    }

    #[test]
    fn both_languages_say_the_same() {
        let good = told("[a]\nk = \"{n} {n|run|runs}\"\n", "[a]\nk = \"{n} 次\"\n").unwrap();
        assert_eq!((&*good[0].name, &*good[0].texts[0].zh), ("a", "{n} 次"));
        for (en, zh, said) in [
            (
                "[a]\nk = \"x\"",
                "[b]\nk = \"x\"",
                "sections: only one language has a, b",
            ),
            (
                "[a]\nk = \"x\"",
                "[a]",
                "keys of [a]: only one language has k",
            ),
            (
                "[a]\nk = \"{n}\"",
                "[a]\nk = \"{m}\"",
                "values of a.k: only one language has n, m",
            ),
            ("[a]\nk = \"\"", "[a]\nk = \"x\"", "a.k is no text"),
            ("[a]\nk = 1", "[a]\nk = \"x\"", "a.k is no text"),
            ("a = 1", "", "a is no section"),
            ("[a", "", "en.toml: "),
        ] {
            let error = told(en, zh).unwrap_err();
            assert!(error.contains(said), "{error}");
        }
    }
}
