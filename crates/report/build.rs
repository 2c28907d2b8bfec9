//! Makes a module of each section of the texts, with a struct of them.

use std::error::Error;
use std::fmt::Write;
use std::path::Path;
use tidemark_texts::{Section, Text};

fn main() -> Result<(), Box<dyn Error>> {
    let mut code = String::new();
    let sections = tidemark_texts::sections(Path::new("."))?;
    let units = sections.iter().find(|s| s.name == "units");
    let units = units.ok_or("texts/en.toml: there is no section [units]")?;
    for section in &sections {
        let name = &section.name;
        if name == "units" {
            code += &unit_words(section);
            continue;
        }
        writeln!(code, "/// Section `{name}`, in a language.")?;
        writeln!(code, "pub(crate) mod {name} {{\npub(crate) struct Texts {{")?;
        for text in &section.texts {
            writeln!(code, "pub {}: &'static str,", text.key)?;
        }
        let (mut en, mut zh) = (String::new(), String::new());
        for text in &section.texts {
            writeln!(en, "{}: {:?},", text.key, text.en)?;
            writeln!(zh, "{}: {:?},", text.key, text.zh)?;
        }
        writeln!(
            code,
            "}}\nconst EN: Texts = Texts {{ {en} }};\nconst ZH: Texts = Texts {{ {zh} }};\n\
             pub(crate) fn of(lang: super::Lang) -> &'static Texts {{\n\
             match lang {{ super::Lang::En => &EN, super::Lang::Zh => &ZH }}\n}}"
        )?;
        if WITH_UNITS.contains(&name.as_str()) {
            code += &of_units(section, units)?;
        }
        writeln!(code, "}}")?;
    }
    tidemark_texts::write(&code)?;
    Ok(())
}

/// Sections whose texts name what a throughput is of.
const WITH_UNITS: [&str; 2] = ["common", "many"];
/// The words of other units, by what their keys in section `units` begin with.
const UNITS: [(&str, &str); 2] = [("Statements", "statements"), ("NewOrders", "new_orders")];

/// A function that gives a section's texts with the words of a unit in the place of those of
/// transactions.
fn of_units(section: &Section, units: &Section) -> Result<String, Box<dyn Error>> {
    let mut code = String::new();
    let mut arms = String::new();
    for (variant, unit) in UNITS {
        for (lang, pick) in [
            ("En", (|t| &t.en) as fn(&Text) -> &String),
            ("Zh", (|t| &t.zh) as fn(&Text) -> &String),
        ] {
            let word = |key: String| {
                let found = units.texts.iter().find(|t| t.key == key).map(pick);
                found.ok_or(format!("texts/en.toml: [units] has no key {key}"))
            };
            let mut pairs = Vec::new();
            for form in ["head", "says", "short"] {
                pairs.push((
                    word(format!("transactions_{form}"))?,
                    word(format!("{unit}_{form}"))?,
                ));
            }
            let name = format!("{lang}_{unit}").to_uppercase();
            write!(code, "static {name}: Texts = Texts {{ ")?;
            for text in &section.texts {
                let said = pairs.iter().fold(pick(text).clone(), |said, (from, to)| {
                    said.replace(*from, to)
                });
                write!(code, "{}: {said:?}, ", text.key)?;
            }
            writeln!(code, "}};")?;
            writeln!(
                arms,
                "(super::Lang::{lang}, super::RateUnit::{variant}) => &{name},"
            )?;
        }
    }
    writeln!(
        code,
        "/// The same, of what a throughput counts.\n\
         pub(crate) fn of_unit(lang: super::Lang, unit: super::RateUnit) -> &'static Texts {{\n\
         match (lang, unit) {{ {arms} _ => of(lang) }}\n}}"
    )?;
    Ok(code)
}

/// A function that gives the word of a unit.
fn unit_words(section: &Section) -> String {
    let mut arms = String::new();
    for (variant, unit) in UNITS.into_iter().chain([("Transactions", "transactions")]) {
        let key = format!("{unit}_says");
        for text in section.texts.iter().filter(|t| t.key == key) {
            for (lang, said) in [("En", &text.en), ("Zh", &text.zh)] {
                arms += &format!("(Lang::{lang}, RateUnit::{variant}) => {said:?},\n");
            }
        }
    }
    format!(
        "/// What a throughput counts, in a word.\n\
         pub(crate) fn unit_word(lang: Lang, unit: RateUnit) -> &'static str {{\n\
         match (lang, unit) {{ {arms} }}\n}}\n"
    )
}
