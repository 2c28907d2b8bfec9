//! Makes a module of each section of the texts, with a function of each.

use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let sections = tidemark_texts::sections(Path::new("."))?;
    tidemark_texts::write(&tidemark_texts::functions(&sections))?;
    Ok(())
}
