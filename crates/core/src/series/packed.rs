//! Whole numbers as text: LEB128, deflated (RFC 1951), in base64.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD_NO_PAD;
use flate2::Compression;
use flate2::read::{DeflateDecoder, DeflateEncoder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::io::{BufRead, BufReader, Cursor, Read};

/// Deflating fewer bytes than these saves hardly any.
const WORTH_DEFLATING: usize = 64;

/// Numbers in a row.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct Packed(String);

/// Reads them one by one.
pub(super) struct Numbers(BufReader<DeflateDecoder<Cursor<Vec<u8>>>>);

impl Packed {
    /// Of numbers that were appended to bytes by [`append`].
    pub fn of(bytes: &[u8]) -> Self {
        if bytes.len() < WORTH_DEFLATING {
            return Self::stored(bytes);
        }
        let mut deflated = Vec::new();
        // Reading from a slice into a vector can't fail.
        let _ = DeflateEncoder::new(bytes, Compression::best()).read_to_end(&mut deflated);
        // What is no more than noise is not worth reading through a code.
        match deflated.len() < bytes.len() {
            true => Self(BASE64_STANDARD_NO_PAD.encode(deflated)),
            false => Self::stored(bytes),
        }
    }

    /// The same without compression: a compressor takes a quarter of a megabyte while it works.
    pub fn stored(bytes: &[u8]) -> Self {
        // Stored blocks (RFC 1951, 3.2.4): the last one is marked, and none has more than 65,535 bytes.
        let mut blocks = Vec::with_capacity(bytes.len() + 5);
        let mut rest = bytes;
        loop {
            let (block, after) = rest.split_at(rest.len().min(usize::from(u16::MAX)));
            let length = block.len() as u16;
            blocks.push(u8::from(after.is_empty()));
            blocks.extend(length.to_le_bytes());
            blocks.extend((!length).to_le_bytes());
            blocks.extend(block);
            rest = after;
            if rest.is_empty() {
                return Self(BASE64_STANDARD_NO_PAD.encode(blocks));
            }
        }
    }

    pub fn numbers(&self) -> Result<Numbers, &'static str> {
        let deflated = BASE64_STANDARD_NO_PAD.decode(&self.0);
        let deflated = Cursor::new(deflated.map_err(|_| "it is not base64")?);
        // Small: a record may have thousands of series.
        Ok(Numbers(BufReader::with_capacity(
            512,
            DeflateDecoder::new(deflated),
        )))
    }
}

impl Numbers {
    pub fn next(&mut self) -> Result<u64, &'static str> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let bytes = self.0.fill_buf().map_err(|_| "it cannot be decompressed")?;
            let byte = *bytes.first().ok_or("it ends too soon")?;
            self.0.consume(1);
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err("a number is too long")
    }
}

/// Appends one number.
pub(super) fn append(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Small numbers of either sign as small ones without.
pub(super) fn unsigned(number: i64) -> u64 {
    (number as u64) << 1 ^ (number >> 63) as u64
}

/// The other way.
pub(super) fn signed(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}
