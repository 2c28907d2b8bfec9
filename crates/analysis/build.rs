//! Makes a module of each section of the texts, with a constant for each.

use std::error::Error;
use std::fmt::Write;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let mut code = String::new();
    for section in tidemark_texts::sections(Path::new("."))? {
        writeln!(code, "pub(crate) mod {} {{\nuse crate::Both;", section.name)?;
        for text in &section.texts {
            let (name, en, zh) = (text.key.to_uppercase(), &text.en, &text.zh);
            writeln!(
                code,
                "pub(crate) const {name}: Both = Both {{ en: {en:?}, zh: {zh:?} }};"
            )?;
        }
        writeln!(code, "}}")?;
    }
    tidemark_texts::write(&code)?;
    Ok(())
}
