//! Makes a module of each section of the texts, with a struct of them.

use std::error::Error;
use std::fmt::Write;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let mut code = String::new();
    for section in tidemark_texts::sections(Path::new("."))? {
        let name = &section.name;
        writeln!(code, "/// Section `{name}`, in a language.")?;
        writeln!(code, "pub(crate) mod {name} {{\npub(crate) struct Texts {{")?;
        for text in &section.texts {
            writeln!(code, "pub {}: &'static str,", text.key)?;
        }
        let (mut en, mut zh) = (String::new(), String::new());
        for text in &section.texts {
            writeln!(en, "{}: {:?},", text.key, text.en)?;
            writeln!(zh, "{}: {:?},", text.key, text.zh)?;
        }
        writeln!(
            code,
            "}}\nconst EN: Texts = Texts {{ {en} }};\nconst ZH: Texts = Texts {{ {zh} }};\n\
             pub(crate) fn of(lang: super::Lang) -> &'static Texts {{\n\
             match lang {{ super::Lang::En => &EN, super::Lang::Zh => &ZH }}\n}}\n}}"
        )?;
    }
    tidemark_texts::write(&code)?;
    Ok(())
}
