//! The version that a run's record bears: `+quick` for a build that is quick to make and slower to run.

fn main() {
    let of_cargo = |name: &str| std::env::var(name).unwrap_or_default();
    let version = of_cargo("CARGO_PKG_VERSION");
    // Cargo's word for every profile that inherits `release`; `dist` optimises this crate too.
    let is_quick = of_cargo("PROFILE") == "release" && of_cargo("OPT_LEVEL") == "0";
    let mark = if is_quick { "+quick" } else { "" };
    println!("cargo:rustc-env=TIDEMARK_VERSION={version}{mark}");
    println!("cargo:rerun-if-changed=build.rs");
}
