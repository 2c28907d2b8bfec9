//! `examples/reports`: each report is rendered from its kept records in both languages, and its Markdown
//! compared with the kept one. `TRYCMD=overwrite cargo test -p tidemark --test it report_examples` writes
//! the kept ones anew.

use super::common::{Said, Workdir};
use flate2::read::GzDecoder;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/reports")
}

/// What `tidemark report` is asked for, as `build` does.
fn asked(name: &str) -> Vec<String> {
    if folder().join(format!("{name}.sh")).exists() {
        return vec!["--tag".into(), name.into()];
    }
    let mut studies: Vec<String> = fs::read_dir(folder())
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().into_string().ok())
        .filter_map(|file| Some(file.strip_suffix(".toml")?.to_string()))
        .filter(|study| study == name || study.starts_with(&format!("{name}-")))
        .collect();
    studies.sort();
    studies
}

/// The kept store of an example, as a file of its own.
fn unpacked(name: &str, dir: &Workdir) -> PathBuf {
    let packed = folder().join(format!("kept/{name}.db.gz"));
    let size = packed.metadata().unwrap().len();
    assert!(size < 1_500_000, "{name}: {size} bytes");
    let store = dir.path().join("kept.db");
    let mut from = GzDecoder::new(File::open(packed).unwrap());
    std::io::copy(&mut from, &mut File::create(&store).unwrap()).unwrap();
    store
}

fn rendered(name: &str, lang: &str, out: &str, dir: &Workdir, store: &Path) -> Said {
    let mut words = vec!["report".to_string()];
    words.extend(asked(name));
    let text = folder().join(format!("{name}.{lang}.md"));
    words.extend(["--lang".into(), lang.into(), "--out".into(), out.into()]);
    words.extend(["--text".into(), text.display().to_string()]);
    words.extend(["--store".into(), store.display().to_string()]);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    dir.ok(&words)
}

#[test]
fn each_report_is_rendered_from_its_kept_records_in_both_languages() {
    let texts = fs::read_dir(folder()).unwrap();
    let files = texts.filter_map(|entry| entry.unwrap().file_name().into_string().ok());
    let names: Vec<String> = files
        .filter_map(|file| Some(file.strip_suffix(".en.md")?.to_string()))
        .collect();
    assert!(names.len() >= 5, "{names:?}");
    let overwrites = std::env::var("TRYCMD").is_ok_and(|value| value == "overwrite");
    let mut differ = Vec::new();
    for name in &names {
        let dir = Workdir::new();
        let store = unpacked(name, &dir);
        for lang in ["en", "zh"] {
            rendered(name, lang, "page.html", &dir, &store);
            let page = fs::read_to_string(dir.path().join("page.html")).unwrap();
            assert!(!page.contains("{{"), "{name} {lang}");
            fs::remove_file(dir.path().join("page.html")).unwrap();
            let said = rendered(name, lang, "-", &dir, &store).out;
            let kept = folder().join(format!("kept/{name}.{lang}.md"));
            if overwrites {
                fs::write(&kept, &said).unwrap();
            }
            let before = fs::read_to_string(&kept).unwrap();
            let mut lines = before.lines().zip(said.lines());
            if before != said {
                let first = lines.find(|(before, now)| before != now);
                differ.push(format!("{name} {lang}: {first:#?}"));
            }
        }
    }
    let how = "TRYCMD=overwrite writes them anew";
    assert!(differ.is_empty(), "{how}:\n{}", differ.join("\n"));
}
