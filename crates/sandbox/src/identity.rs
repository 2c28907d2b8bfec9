//! What nobody can guess: passwords, and the marks by which a sandbox is known again.

use crate::Error;
use std::fmt::Write;
use std::fs::File;
use std::io::Read;

/// 128 random bits as hexadecimal digits.
pub(crate) fn secret() -> Result<String, Error> {
    let mut bytes = [0u8; 16];
    File::open("/dev/urandom")
        .and_then(|mut source| source.read_exact(&mut bytes))
        .map_err(Error::io("reading random bits from /dev/urandom"))?;
    let mut text = String::new();
    for byte in bytes {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}
