//! What a report's author writes: a text file, or a study's own, with the pictures that it names.

use crate::exit::Failure;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tidemark_files::{read, read_text};
use tidemark_report::{Authored, AuthoredSection, Picture};
use tidemark_study::Study;

/// A text may be so long, in bytes.
const LONGEST_TEXT: u64 = 1 << 20;
/// And all its pictures together.
const LARGEST_PICTURES: u64 = 20 << 20;
/// What a page can show: the file's ending, its type, and what its content begins with.
const MEDIA: [(&str, &str, &[&[u8]]); 6] = [
    ("png", "image/png", &[b"\x89PNG\r\n\x1a\n"]),
    ("jpg", "image/jpeg", &[b"\xff\xd8\xff"]),
    ("jpeg", "image/jpeg", &[b"\xff\xd8\xff"]),
    ("gif", "image/gif", &[b"GIF8"]),
    ("webp", "image/webp", &[b"RIFF"]),
    (
        "svg",
        "image/svg+xml",
        &[b"<svg", b"<?xml", b"\xef\xbb\xbf<"],
    ),
];

/// An author's texts, the later behind the earlier; the later title wins.
#[derive(Debug)]
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
        let name = path.display().to_string();
        let text = read_text(path, LONGEST_TEXT)
            .map_err(|e| Failure::usage(format!("--text={name}: {e}")))?;
        let mut authored =
            Authored::parse(&text).map_err(|e| Failure::usage(format!("{name}: {e}")))?;
        lies_in(&mut authored, &folder(path));
        let mut pictures = BTreeMap::new();
        for (path, picture) in self.pictures(&authored, &name, &folder(path), false) {
            pictures.insert(path, picture?);
        }
        self.add(authored, pictures);
        Ok(())
    }

    /// A study's title, text and sections; its pictures are beside its file.
    ///
    /// What is wrong with them is said, and left out: the report of a study is made all the same.
    pub fn add_study(&mut self, study: &Study, path: &str) {
        let text = study.text.as_deref().unwrap_or_default();
        let mut authored = Authored::parse(text).unwrap_or_else(|wrong| {
            eprintln!("tidemark: {path}: text is left out: {wrong}");
            Authored::default()
        });
        if study.title.is_some() {
            authored.title.clone_from(&study.title);
        }
        let sections = study.sections.iter().map(|section| AuthoredSection {
            place: section.place,
            title: section.title.clone().unwrap_or_default(),
            text: section.text.clone(),
            line: 0,
            lenient: false,
            folder: String::new(),
        });
        authored.sections.extend(sections);
        for section in &mut authored.sections {
            section.lenient = true;
        }
        lies_in(&mut authored, &folder(Path::new(path)));
        // It may be a stranger's: only what is below its own folder is shown.
        let mut pictures = BTreeMap::new();
        for (file, picture) in self.pictures(&authored, path, &folder(Path::new(path)), true) {
            match picture {
                Ok(picture) => {
                    pictures.insert(file, picture);
                }
                Err(why) => eprintln!("tidemark: a picture is left out: {}", why.message),
            }
        }
        self.add(authored, pictures);
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
        below: bool,
    ) -> Vec<(String, Result<Picture, Failure>)> {
        let paths = authored.picture_paths().into_iter();
        let from_here = |path: &str| {
            let first = authored.sections.first();
            first.map_or(path.into(), |section| section.picture(path))
        };
        let pictures = paths.map(|(path, (line, mentions))| {
            let picture = self
                .picture(&path, mentions, beside, below)
                .map_err(|why| Failure::usage(format!("{name}: line {line}: {path}: {why}")));
            (from_here(&path), picture)
        });
        pictures.collect()
    }

    fn picture(
        &mut self,
        path: &str,
        mentions: u64,
        beside: &Path,
        below: bool,
    ) -> Result<Picture, String> {
        if path.contains("://") || path.starts_with("data:") {
            return Err(
                "a report loads nothing; save the picture beside the text, for example \
                 ![plan](plan.png)"
                    .into(),
            );
        }
        let ending = Path::new(path).extension().and_then(|e| e.to_str());
        let ending = ending.unwrap_or_default().to_ascii_lowercase();
        let known = MEDIA.iter().find(|(known, ..)| *known == ending);
        let Some((_, media_type, begins)) = known else {
            let known: Vec<&str> = MEDIA.iter().map(|(known, ..)| *known).collect();
            return Err(format!("a picture is one of {}", known.join(", ")));
        };
        let said = |e: std::io::Error| e.to_string();
        let file = beside.join(path).canonicalize().map_err(said)?;
        let folder = match beside.as_os_str().is_empty() {
            true => PathBuf::from("."),
            false => beside.into(),
        };
        if below && !file.starts_with(folder.canonicalize().map_err(said)?) {
            return Err("it is not below the folder of the study".into());
        }
        let bytes = read(&file, self.room).map_err(|e| e.to_string())?;
        let size = (bytes.len() as u64).saturating_mul(mentions);
        self.room = self.room.checked_sub(size).ok_or_else(|| {
            let most = LARGEST_PICTURES >> 20;
            format!("the pictures have more than {most} MiB together")
        })?;
        if !begins.iter().any(|begin| bytes.starts_with(begin)) {
            return Err(format!("its content is no picture of the kind {ending}"));
        }
        Ok(Picture { media_type, bytes })
    }

    /// All of it, with the title of the command line, if there is one.
    pub fn titled(mut self, title: Option<&str>) -> Authored {
        if let Some(title) = title {
            self.authored.title = Some(title.into());
        }
        self.authored
    }
}

/// Names the folder of a text, which its pictures are beside.
fn lies_in(authored: &mut Authored, folder: &Path) {
    for section in &mut authored.sections {
        section.folder = folder.display().to_string();
    }
}

fn folder(path: &Path) -> PathBuf {
    path.parent().map(Into::into).unwrap_or_default()
}
