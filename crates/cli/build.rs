//! The version that a run's record bears: `+quick` for a build that is quick to make and slower to run.
//! And a module of each section of the texts, with a function of each; but those of `[messages]` and of
//! help are tables. And the order of the functions in a program of the profile `dist`.

#[path = "build/linker.rs"]
mod linker;

use linker::Linker;
use std::error::Error;
use std::path::Path;
use tidemark_texts::Section;

/// What runs execute side by side, so that it takes few pages (docs/adr/0025); `scripts/text-order`
/// writes it.
const TEXT_ORDER: &str = "text-order.txt";
/// Of this crate; no other profile has it.
const OPT_LEVEL_OF_DIST: &str = "s";

/// Of the program for which [`TEXT_ORDER`] was written.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Has the linker lay functions out in order, if it is one that can: LLD, which links by default where
/// the toolchain has it, the C compiler knows it, and no flag names another.
fn order_functions() {
    let of_cargo = |name: &str| std::env::var(name).unwrap_or_default();
    // When cross compiling, the linker may be of another machine.
    if of_cargo("TARGET") != TARGET || of_cargo("HOST") != TARGET {
        return;
    }
    let order = Path::new(&of_cargo("CARGO_MANIFEST_DIR")).join(TEXT_ORDER);
    // A path may have commas, which part options behind `-Wl`.
    let arguments = [
        "-Xlinker".to_owned(),
        format!("--symbol-ordering-file={}", order.display()),
        "-Xlinker".to_owned(),
        "--no-warn-symbol-ordering".to_owned(),
    ];
    let flags = of_cargo("CARGO_ENCODED_RUSTFLAGS");
    let linker = Linker {
        rustc: std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()),
        program: std::env::var_os("RUSTC_LINKER"),
        flags: flags
            .split('\x1f')
            .filter(|flag| !flag.is_empty())
            .map(str::to_owned)
            .collect(),
    };
    if linker.takes(&arguments, Path::new(&of_cargo("OUT_DIR"))) {
        for argument in arguments {
            println!("cargo:rustc-link-arg-bins={argument}");
        }
    } else {
        println!(
            "cargo:warning=this linker takes no order of functions, as LLD does: the program will take \
             some MiB more memory"
        );
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let of_cargo = |name: &str| std::env::var(name).unwrap_or_default();
    let version = of_cargo("CARGO_PKG_VERSION");
    // Cargo's word for every profile that inherits `release`; `dist` optimises this crate too.
    let is_quick = of_cargo("PROFILE") == "release" && of_cargo("OPT_LEVEL") == "0";
    let mark = if is_quick { "+quick" } else { "" };
    println!("cargo:rustc-env=TIDEMARK_VERSION={version}{mark}");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={TEXT_ORDER}");
    if of_cargo("OPT_LEVEL") == OPT_LEVEL_OF_DIST {
        order_functions();
    }
    let (forms, sections): (Vec<Section>, Vec<Section>) = tidemark_texts::sections(Path::new("."))?
        .into_iter()
        .partition(|section| section.name == "messages");
    let mut code = tidemark_texts::functions(&sections);
    let messages = forms.iter().flat_map(|section| &section.texts);
    code += &table("MESSAGES", messages.map(|text| (&text.en, &text.zh)));
    let help = tidemark_texts::translations(Path::new("texts/help.zh.toml"))?;
    code += &table("HELP", &help);
    tidemark_texts::write(&code)?;
    Ok(())
}

/// A constant of texts in English and in Chinese.
fn table<'a>(name: &str, texts: impl IntoIterator<Item = (&'a String, &'a String)>) -> String {
    let row = |(en, zh): (&String, &String)| format!("({en:?}, {zh:?}),\n");
    let rows: String = texts.into_iter().map(row).collect();
    format!("pub const {name}: &[(&str, &str)] = &[\n{rows}];\n")
}
