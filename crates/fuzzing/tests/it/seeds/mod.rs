//! The folders of the corpora.

use std::path::PathBuf;

/// A target's corpus.
pub fn folder(target: &str) -> PathBuf {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.join("../../fuzz/corpus").join(target)
}

/// Tries a seed, and writes it when asked to.
pub fn write(target: &str, name: &str, data: &[u8]) {
    tidemark_fuzzing::run(target, data);
    if std::env::var_os("TIDEMARK_FUZZ_RECORD").is_some_and(|v| v == "1") {
        let folder = folder(target);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(name), data).unwrap();
    }
}
