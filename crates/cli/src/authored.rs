//! What a report's author writes: a text file, or a study's own, with the pictures that it names.

use crate::exit::Failure;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use tidemark_report::{Authored, AuthoredSection, Picture};
use tidemark_study::Study;

/// A text may be so long, in bytes.
const LONGEST_TEXT: u64 = 1 << 20;
/// And all its pictures together.
const LARGEST_PICTURES: u64 = 20 << 20;
/// What a page can show, by the file's ending.
const MEDIA: [(&str, &str); 6] = [
    ("png", "image/png"),
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("gif", "image/gif"),
    ("webp", "image/webp"),
    ("svg", "image/svg+xml"),
];

/// An author's texts, the later behind the earlier, whose title wins.
#[derive(Debug, Default)]
pub struct Texts {
    authored: Authored,
    room: u64,
}

impl Texts {
    /// Nothing yet.
    pub fn new() -> Self {
        Self {
            authored: Authored::default(),
            room: LARGEST_PICTURES,
        }
    }

    /// The text of `--text`, whose pictures are beside it.
    ///
    /// # Errors
    /// [`Failure`] of bad usage naming the file, its line, and what is wrong.
    pub fn add_file(&mut self, path: &Path) -> Result<(), Failure> {
        let text = text_of(path)?;
        let name = path.display().to_string();
        let authored =
            Authored::parse(&text).map_err(|e| Failure::usage(format!("{name}: {e}")))?;
        let pictures = self.pictures(&authored, &name, &folder(path))?;
        self.add(authored, pictures);
        Ok(())
    }

    /// A study's title, text and sections; its pictures are beside its file.
    ///
    /// # Errors
    /// As [`Texts::add_file`].
    pub fn add_study(&mut self, study: &Study, path: &str) -> Result<(), Failure> {
        let text = study.text.as_deref().unwrap_or_default();
        let mut authored =
            Authored::parse(text).map_err(|e| Failure::usage(format!("{path}: text: {e}")))?;
        if study.title.is_some() {
            authored.title.clone_from(&study.title);
        }
        let sections = study.sections.iter().map(|section| AuthoredSection {
            place: section.place,
            title: section.title.clone().unwrap_or_default(),
            text: section.text.clone(),
            line: 0,
        });
        authored.sections.extend(sections);
        // A study may have been moved since: its report is made all the same.
        let pictures = match self.pictures(&authored, path, &folder(Path::new(path))) {
            Ok(pictures) => pictures,
            Err(missing) => {
                eprintln!("tidemark: pictures are left out: {}", missing.message);
                BTreeMap::new()
            }
        };
        self.add(authored, pictures);
        Ok(())
    }

    fn add(&mut self, authored: Authored, pictures: BTreeMap<String, Picture>) {
        let all = &mut self.authored;
        all.title = authored.title.or(all.title.take());
        all.sections.extend(authored.sections);
        all.pictures.extend(pictures);
    }

    fn pictures(
        &mut self,
        authored: &Authored,
        name: &str,
        beside: &Path,
    ) -> Result<BTreeMap<String, Picture>, Failure> {
        let mut pictures = BTreeMap::new();
        for (path, line) in authored.picture_paths() {
            let bad = |why: String| Failure::usage(format!("{name}: line {line}: {path}: {why}"));
            if path.contains("://") || path.starts_with("data:") {
                return Err(bad(
                    "a report loads nothing; save the picture beside the text, for example \
                     ![plan](plan.png)"
                        .into(),
                ));
            }
            let ending = Path::new(&path).extension().and_then(|e| e.to_str());
            let ending = ending.unwrap_or_default().to_ascii_lowercase();
            let known = MEDIA.iter().find(|(known, _)| *known == ending);
            let Some((_, media_type)) = known else {
                let known: Vec<&str> = MEDIA.iter().map(|(known, _)| *known).collect();
                return Err(bad(format!("a picture is one of {}", known.join(", "))));
            };
            let file = beside.join(&path);
            let size = fs::metadata(&file).map_err(|e| bad(e.to_string()))?.len();
            self.room = self.room.checked_sub(size).ok_or_else(|| {
                let most = LARGEST_PICTURES >> 20;
                bad(format!("the pictures have more than {most} MiB together"))
            })?;
            let bytes = fs::read(&file).map_err(|e| bad(e.to_string()))?;
            let media_type = *media_type;
            pictures.insert(path.clone(), Picture { media_type, bytes });
        }
        Ok(pictures)
    }

    /// All of it, with the title of the command line, if there is one.
    pub fn titled(mut self, title: Option<&str>) -> Authored {
        if let Some(title) = title {
            self.authored.title = Some(title.into());
        }
        self.authored
    }
}

fn folder(path: &Path) -> PathBuf {
    path.parent().map(Into::into).unwrap_or_default()
}

fn text_of(path: &Path) -> Result<String, Failure> {
    let bad = |why: String| Failure::usage(format!("--text={}: {why}", path.display()));
    let size = fs::metadata(path).map_err(|e| bad(e.to_string()))?.len();
    if size > LONGEST_TEXT {
        let most = LONGEST_TEXT >> 20;
        return Err(bad(format!(
            "it has more than {most} MiB; name a Markdown file"
        )));
    }
    let bytes = fs::read(path).map_err(|e| bad(e.to_string()))?;
    String::from_utf8(bytes).map_err(|_| bad("it is no UTF-8 text; name a Markdown file".into()))
}
