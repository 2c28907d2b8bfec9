//! The version that a run's record bears: `+quick` for a build that is quick to make and slower to run.
//! And a module of each section of the texts, with a function of each text: its parameters are the
//! text's values, in the order in which English has them.

use std::error::Error;
use std::fmt::Write;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let of_cargo = |name: &str| std::env::var(name).unwrap_or_default();
    let version = of_cargo("CARGO_PKG_VERSION");
    // Cargo's word for every profile that inherits `release`; `dist` optimises this crate too.
    let is_quick = of_cargo("PROFILE") == "release" && of_cargo("OPT_LEVEL") == "0";
    let mark = if is_quick { "+quick" } else { "" };
    println!("cargo:rustc-env=TIDEMARK_VERSION={version}{mark}");
    println!("cargo:rerun-if-changed=build.rs");
    let mut code = String::new();
    for section in tidemark_texts::sections(Path::new("."))? {
        writeln!(code, "pub mod {} {{\nuse super::Lang;", section.name)?;
        for text in &section.texts {
            function(&mut code, &text.key, &text.en, &text.zh)?;
        }
        writeln!(code, "}}")?;
    }
    tidemark_texts::write(&code)?;
    Ok(())
}

fn function(code: &mut String, name: &str, en: &str, zh: &str) -> std::fmt::Result {
    let (en, en_values) = formatted(en);
    let (zh, _) = formatted(zh);
    if en_values.is_empty() {
        return writeln!(
            code,
            "pub fn {name}(lang: Lang) -> &'static str {{\n\
             match lang {{ Lang::En => {en:?}, Lang::Zh => {zh:?} }}\n}}"
        );
    }
    let parameters: String = en_values
        .iter()
        .map(|value| format!(", {value}: impl std::fmt::Display"))
        .collect();
    writeln!(
        code,
        "pub fn {name}(lang: Lang{parameters}) -> String {{\n\
         match lang {{ Lang::En => format!({en}), Lang::Zh => format!({zh}) }}\n}}"
    )
}

/// A text as the arguments of `format!`, and its values' names.
fn formatted(text: &str) -> (String, Vec<String>) {
    let (mut template, mut words, mut values) = (String::new(), String::new(), Vec::new());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        template.push_str(before);
        let (place, after) = after.split_once('}').unwrap_or((after, ""));
        let parts: Vec<&str> = place.split('|').collect();
        let value = parts[0].to_string();
        if let [value, one, many] = parts[..] {
            let word = format!("word_{}", words.len());
            words += &format!(
                ", {word} = if {value}.to_string() == \"1\" {{ {one:?} }} else {{ {many:?} }}"
            );
            template += &format!("{{{word}}}");
        } else {
            template += &format!("{{{value}}}");
        }
        if !values.contains(&value) {
            values.push(value);
        }
        rest = after;
    }
    template.push_str(rest);
    if values.is_empty() {
        return (template, values);
    }
    (format!("{template:?}{words}"), values)
}
