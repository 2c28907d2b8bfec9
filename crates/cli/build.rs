//! The version that a run's record bears: `+quick` for a build that is quick to make and slower to run.
//! And a module of each section of the texts, with a function of each.

use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let of_cargo = |name: &str| std::env::var(name).unwrap_or_default();
    let version = of_cargo("CARGO_PKG_VERSION");
    // Cargo's word for every profile that inherits `release`; `dist` optimises this crate too.
    let is_quick = of_cargo("PROFILE") == "release" && of_cargo("OPT_LEVEL") == "0";
    let mark = if is_quick { "+quick" } else { "" };
    println!("cargo:rustc-env=TIDEMARK_VERSION={version}{mark}");
    println!("cargo:rerun-if-changed=build.rs");
    let sections = tidemark_texts::sections(Path::new("."))?;
    tidemark_texts::write(&tidemark_texts::functions(&sections))?;
    Ok(())
}
