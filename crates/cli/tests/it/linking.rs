//! Whether a build lays functions out in an order depends on its linker: build.rs asks it.

#[path = "../../build/linker.rs"]
mod linker;

use linker::Linker;

#[test]
fn a_linker_is_asked_with_the_builds_own_flags_whether_it_takes_an_option() {
    let folder = tempfile::tempdir().unwrap();
    let linker = |flags: &[&str]| Linker {
        rustc: std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()),
        program: None,
        flags: flags.iter().map(|flag| (*flag).to_owned()).collect(),
    };
    let refused = ["-Xlinker".to_owned(), "--tidemark-has-no-option".to_owned()];
    assert!(linker(&[]).takes(&[], folder.path()));
    assert!(!linker(&[]).takes(&refused, folder.path()));
    let flags = ["-Clink-arg=-Xlinker", "-Clink-arg=--tidemark-has-no-option"];
    assert!(!linker(&flags).takes(&[], folder.path()));

    let none = Linker {
        program: Some(folder.path().join("none").into_os_string()),
        ..linker(&[])
    };
    assert!(!none.takes(&[], folder.path()));
    let no_folder = folder.path().join("none");
    assert!(!linker(&[]).takes(&[], &no_folder));
}
