//! Makes a function of each text: what it says of its values, in a language.

use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let sections = tidemark_texts::sections(Path::new("."))?;
    tidemark_texts::write(&tidemark_texts::functions(&sections))?;
    Ok(())
}
