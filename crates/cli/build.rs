//! The version that a run's record bears: `+quick` for a build that is quick to make and slower to run.
//! And a module of each section of the texts, with a function of each; but those of `[messages]` are a
//! table. And the order of the functions in a program of the profile `dist`.

use std::error::Error;
use std::path::Path;
use std::process::Command;
use tidemark_texts::Section;

/// What runs execute side by side, so that it takes few pages (docs/adr/0025); `scripts/text-order`
/// writes it.
const TEXT_ORDER: &str = "text-order.txt";
/// Of this crate; no other profile has it.
const OPT_LEVEL_OF_DIST: &str = "s";

/// Whether the toolchain's own LLD links, as it does on x86-64 Linux by default: other linkers have no
/// such option.
fn links_with_lld() -> bool {
    const LLD: &str = "lib/rustlib/x86_64-unknown-linux-gnu/bin/gcc-ld/ld.lld";
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|is| is == value);
    let is_told = std::env::var_os("RUSTC_LINKER").is_some()
        || std::env::var("CARGO_ENCODED_RUSTFLAGS").is_ok_and(|flags| flags.contains("link"));
    let sysroot = std::env::var_os("RUSTC")
        .and_then(|rustc| {
            Command::new(rustc)
                .args(["--print", "sysroot"])
                .output()
                .ok()
        })
        .and_then(|output| String::from_utf8(output.stdout).ok());
    is("TARGET", "x86_64-unknown-linux-gnu")
        && !is_told
        && sysroot.is_some_and(|sysroot| Path::new(sysroot.trim()).join(LLD).exists())
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
    if of_cargo("OPT_LEVEL") == OPT_LEVEL_OF_DIST && links_with_lld() {
        let order = Path::new(&of_cargo("CARGO_MANIFEST_DIR")).join(TEXT_ORDER);
        let order = order.display();
        // A path may have commas, which part options behind `-Wl`.
        for option in [
            format!("--symbol-ordering-file={order}"),
            "--no-warn-symbol-ordering".into(),
        ] {
            println!("cargo:rustc-link-arg-bins=-Xlinker");
            println!("cargo:rustc-link-arg-bins={option}");
        }
    }
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
