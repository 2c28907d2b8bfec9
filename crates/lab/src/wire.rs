//! What the two protocols have in common: requests are taken off the front of what was received,
//! and answers appended to what will be sent.

use crate::LabConfig;

/// What became of the first request in the bytes received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestStep {
    /// It has not wholly come.
    Incomplete,
    /// It took so many bytes, and more must come before anything is sent.
    Taken(usize),
    /// It took so many bytes, and what stands in the answer is sent.
    Answer(usize),
    /// It ends the session, once what stands in the answer is sent.
    Close,
    /// It is none: the session ends.
    Broken,
}

/// What a request was, for delays and the truth.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Done {
    pub prepared: u32,
    pub executed: u32,
    pub queries: u32,
}

/// What the parsers write to.
pub(crate) struct Exchange<'a> {
    pub config: &'a LabConfig,
    pub out: &'a mut Vec<u8>,
    pub done: &'a mut Done,
}

/// Takes `n` bytes off the front.
pub(crate) fn take<'a>(bytes: &mut &'a [u8], n: usize) -> Option<&'a [u8]> {
    let (piece, rest) = bytes.split_at_checked(n)?;
    *bytes = rest;
    Some(piece)
}

/// Takes a text and the zero byte behind it off the front.
pub(crate) fn take_text<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let end = bytes.iter().position(|b| *b == 0)?;
    let text = take(bytes, end)?;
    take(bytes, 1)?;
    Some(text)
}
