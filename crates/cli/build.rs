//! The version that a run's record bears: `+quick` for a build that is quick to make and slower to run.
//! And a module of each section of the texts, with a function of each; but those of `[messages]` are a
//! table.

use std::error::Error;
use std::path::Path;
use tidemark_texts::Section;

fn main() -> Result<(), Box<dyn Error>> {
    let of_cargo = |name: &str| std::env::var(name).unwrap_or_default();
    let version = of_cargo("CARGO_PKG_VERSION");
    // Cargo's word for every profile that inherits `release`; `dist` optimises this crate too.
    let is_quick = of_cargo("PROFILE") == "release" && of_cargo("OPT_LEVEL") == "0";
    let mark = if is_quick { "+quick" } else { "" };
    println!("cargo:rustc-env=TIDEMARK_VERSION={version}{mark}");
    println!("cargo:rerun-if-changed=build.rs");
    let (forms, sections): (Vec<Section>, Vec<Section>) = tidemark_texts::sections(Path::new("."))?
        .into_iter()
        .partition(|section| section.name == "messages");
    let mut code = tidemark_texts::functions(&sections);
    code += "pub const MESSAGES: &[(&str, &str)] = &[\n";
    for text in forms.iter().flat_map(|section| &section.texts) {
        code += &format!("({:?}, {:?}),\n", text.en, text.zh);
    }
    code += "];\n";
    tidemark_texts::write(&code)?;
    Ok(())
}
