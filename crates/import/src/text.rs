//! Any text as lines of UTF-8: its encoding is recognised by content, nothing is held but one line.

use encoding_rs::{Encoding, GB18030, UTF_8, UTF_16BE, UTF_16LE};
use encoding_rs_io::{DecodeReaderBytes, DecodeReaderBytesBuilder};
use std::io::{self, BufRead, BufReader, Chain, Cursor, Read};

/// What the encoding is recognised by.
const HEAD: usize = 64 << 10;
/// What is read at once: of a large file, a call of the system for each takes time of its own.
const BUFFER: usize = 128 << 10;
/// Longer lines are cut: no tool prints one, and memory stays bounded.
const LONGEST_LINE: usize = 1 << 20;

/// Why a document can't be read.
#[derive(Debug, thiserror::Error)]
pub enum TextError {
    /// It holds bytes that no text has.
    #[error(
        "this is a binary file, not text (byte {0} is {1:#04x}); use texts in UTF-8, UTF-16 or \
         GBK"
    )]
    Binary(usize, u8),
    /// It holds more than can be kept at once, up to this line.
    #[error(
        "the document is too large: by line {line} it holds more than {runs} runs, or {mebibytes} \
         MiB of figures; split it into several files"
    )]
    TooLarge {
        /// Where it is too much.
        line: u64,
        /// As many runs are kept.
        runs: usize,
        /// As much is kept of them.
        mebibytes: usize,
    },
    /// It could not be read.
    #[error("reading failed: {0}")]
    Io(#[from] io::Error),
}

type Head<R> = Chain<Cursor<Vec<u8>>, R>;

/// The lines of a text.
pub(crate) struct TextLines<R: Read> {
    from: Box<BufReader<DecodeReaderBytes<Head<R>, Vec<u8>>>>,
    /// Bytes of the buffer that the last line takes.
    taken: usize,
    /// A line that the buffer does not hold whole.
    raw: Vec<u8>,
    /// A line without control sequences.
    stripped: Vec<u8>,
    /// A line without bytes that are no text.
    text: String,
    number: u64,
    /// What ends lines: old systems had nothing but carriage returns.
    end: u8,
    /// Whether the last line has no end.
    is_open: bool,
}

impl<R: Read> TextLines<R> {
    /// # Errors
    /// [`TextError::Binary`] by the first bytes, or what reading meets.
    pub fn of(mut from: R) -> Result<Self, TextError> {
        let mut head = Vec::new();
        from.by_ref().take(HEAD as u64).read_to_end(&mut head)?;
        let encoding = encoding(&head)?;
        let returns = memchr::memchr_iter(b'\r', &head).count();
        let end = match memchr::memchr(b'\n', &head) {
            None if returns > 1 => b'\r',
            _ => b'\n',
        };
        // Nothing decodes UTF-8: each line is checked.
        let decoded = Some(encoding).filter(|encoding| *encoding != UTF_8);
        let from = DecodeReaderBytesBuilder::new()
            .encoding(decoded)
            .bom_override(true)
            .strip_bom(decoded.is_none())
            .utf8_passthru(decoded.is_none())
            .build(Cursor::new(head).chain(from));
        Ok(Self {
            from: Box::new(BufReader::with_capacity(BUFFER, from)),
            taken: 0,
            raw: Vec::new(),
            stripped: Vec::new(),
            text: String::new(),
            number: 0,
            end,
            is_open: false,
        })
    }

    /// Whether the line that was read last has no end: it may be cut within a number.
    pub fn is_open(&self) -> bool {
        self.is_open
    }

    /// The next line with its number from 1, without its end, colours and other control sequences.
    ///
    /// # Errors
    /// What reading meets, and [`TextError::Binary`] where a text turns into something else.
    pub fn next(&mut self) -> Result<Option<(u64, &str)>, TextError> {
        self.from.consume(std::mem::take(&mut self.taken));
        let whole = memchr::memchr(self.end, self.from.buffer());
        let mut raw: &[u8] = match whole {
            Some(at) => {
                self.taken = at + 1;
                self.from.buffer().get(..=at).unwrap_or_default()
            }
            None if read_line(&mut self.from, self.end, &mut self.raw)? => &self.raw,
            None => return Ok(None),
        };
        self.number += 1;
        self.is_open = raw.last() != Some(&self.end);
        while let [rest @ .., b'\n' | b'\r'] = raw {
            raw = rest;
        }
        if memchr::memchr3(0, 0x1b, b'\r', raw).is_some() {
            if let Some(at) = memchr::memchr(0, raw) {
                return Err(TextError::Binary(at, 0));
            }
            self.stripped.clear();
            self.stripped.extend_from_slice(raw);
            strip(&mut self.stripped);
            raw = &self.stripped;
        }
        // The beginning of a file may have a mark.
        if self.number == 1 {
            raw = raw.strip_prefix(b"\xef\xbb\xbf").unwrap_or(raw);
        }
        let text = match std::str::from_utf8(raw) {
            Ok(text) => text,
            Err(_) => {
                self.text = String::from_utf8_lossy(raw).into_owned();
                &self.text
            }
        };
        Ok(Some((self.number, text)))
    }
}

/// Reads a line, or as much of it as is kept; false at the end.
fn read_line(from: &mut impl BufRead, end: u8, raw: &mut Vec<u8>) -> io::Result<bool> {
    raw.clear();
    let mut limited = from.by_ref().take(LONGEST_LINE as u64);
    if limited.read_until(end, raw)? == 0 {
        return Ok(false);
    }
    if raw.len() == LONGEST_LINE && !raw.ends_with(&[end]) {
        skip_line(from, end)?;
    }
    Ok(true)
}

fn skip_line(from: &mut impl BufRead, end: u8) -> io::Result<()> {
    loop {
        let there = from.fill_buf()?;
        if there.is_empty() {
            return Ok(());
        }
        match memchr::memchr(end, there) {
            Some(at) => {
                from.consume(at + 1);
                return Ok(());
            }
            None => {
                let all = there.len();
                from.consume(all);
            }
        }
    }
}

/// Recognises an encoding. A text that is valid UTF-8 is that; one that is not and has no byte that
/// GB18030 forbids is Chinese.
fn encoding(head: &[u8]) -> Result<&'static Encoding, TextError> {
    if let Some((encoding, _)) = Encoding::for_bom(head) {
        return Ok(encoding);
    }
    let sample = &head[..head.len().min(4096) & !1];
    if !sample.is_empty() {
        // No other text has zero bytes.
        let has_zeros = memchr::memchr(0, sample).is_some();
        let (little, big) = (
            usual(sample, u16::from_le_bytes),
            usual(sample, u16::from_be_bytes),
        );
        let units = sample.len() / 2;
        let enough = |n: usize| has_zeros && units > 2 && n * 20 >= units * 19;
        if enough(little) && little > big {
            return Ok(UTF_16LE);
        }
        if enough(big) && big > little {
            return Ok(UTF_16BE);
        }
    }
    let is_binary = |b: &u8| matches!(b, 0..=8 | 14..=26 | 28..=31);
    if let Some(at) = head.iter().position(is_binary) {
        return Err(TextError::Binary(at, head[at]));
    }
    match std::str::from_utf8(head) {
        Ok(_) => Ok(UTF_8),
        // Its head may end within a character.
        Err(e) if e.error_len().is_none() => Ok(UTF_8),
        Err(e) => {
            let (_, malformed) = GB18030.decode_without_bom_handling(&head[..head.len() & !3]);
            // A pair may be cut at the end; one stray byte in a text of UTF-8 makes no other encoding.
            let wide = head.iter().filter(|b| **b >= 0x80).count();
            let text = String::from_utf8_lossy(head);
            let lost = text.chars().filter(|c| *c == '\u{fffd}').count();
            match !malformed || lost * 3 > wide {
                true if wide > 0 && e.valid_up_to() < head.len() => Ok(GB18030),
                _ => Ok(UTF_8),
            }
        }
    }
}

/// How many units of UTF-16 are what tables and outputs in English or Chinese consist of.
fn usual(sample: &[u8], unit: fn([u8; 2]) -> u16) -> usize {
    let units = sample.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    units
        .filter(|unit| {
            matches!(unit, 9 | 10 | 13 | 0x20..=0x7e | 0xa0..=0x24f | 0x370..=0x3ff)
                || matches!(unit, 0x2010..=0x22ff | 0x3000..=0x30ff | 0x4e00..=0x9fff | 0xff00..=0xffef)
        })
        .count()
}

/// Takes out terminals' control sequences (ECMA-48), and what a carriage return overwrites.
fn strip(line: &mut Vec<u8>) {
    let mut out = Vec::with_capacity(line.len());
    let mut at = 0;
    while let Some(byte) = line.get(at) {
        at += 1;
        match byte {
            0x1b => match line.get(at) {
                Some(b'[') => {
                    at += 1;
                    while line.get(at).is_some_and(|b| !(0x40..=0x7e).contains(b)) {
                        at += 1;
                    }
                    at += 1;
                }
                Some(b']') => {
                    while line.get(at).is_some_and(|b| !matches!(b, 7 | 0x1b)) {
                        at += 1;
                    }
                    at += 1;
                }
                _ => at += 1,
            },
            b'\r' => out.clear(),
            other => out.push(*other),
        }
    }
    *line = out;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: &[u8]) -> Result<Vec<String>, TextError> {
        let mut lines = TextLines::of(bytes)?;
        let mut all = Vec::new();
        while let Some((_, line)) = lines.next()? {
            all.push(line.to_string());
        }
        Ok(all)
    }

    #[test]
    fn every_encoding_gives_the_same_lines() {
        let text = "线程数: 8\r\ntps: 12.5\n";
        let is = ["线程数: 8", "tps: 12.5"];
        let utf16 = |be: bool| -> Vec<u8> {
            let unit = |u: u16| if be { u.to_be_bytes() } else { u.to_le_bytes() };
            text.encode_utf16().flat_map(unit).collect()
        };
        let gbk = GB18030.encode(text).0.into_owned();
        let with = |mark: &[u8], rest: Vec<u8>| [mark, &rest].concat();
        for bytes in [
            text.as_bytes().to_vec(),
            with(b"\xef\xbb\xbf", text.as_bytes().to_vec()),
            with(b"\xff\xfe", utf16(false)),
            with(b"\xfe\xff", utf16(true)),
            gbk,
        ] {
            assert_eq!(lines(&bytes).unwrap(), is, "{bytes:x?}");
        }
        let ascii: Vec<u8> = "tps: 1\n"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        assert_eq!(lines(&ascii).unwrap(), ["tps: 1"]);
        // Chinese without a mark, with characters that have a zero byte.
        let chinese = "一 线程数\t平均延迟\n测试一\t8\n";
        for unit in [u16::to_le_bytes, u16::to_be_bytes] {
            let bytes: Vec<u8> = chinese.encode_utf16().flat_map(unit).collect();
            assert_eq!(lines(&bytes).unwrap(), ["一 线程数\t平均延迟", "测试一\t8"]);
        }
    }

    #[test]
    fn carriage_returns_alone_end_lines() {
        assert_eq!(
            lines(b"a: 1\rb: 2\r\rc").unwrap(),
            ["a: 1", "b: 2", "", "c"]
        );
    }

    #[test]
    fn control_sequences_go_and_binary_is_refused() {
        assert_eq!(lines(b"\x1b[32mtps\x1b[0m: 1").unwrap(), ["tps: 1"]);
        assert_eq!(lines(b"10%\r20%\rdone\n").unwrap(), ["done"]);
        assert!(matches!(
            lines(b"\x7fELF\x01\x01\0\0"),
            Err(TextError::Binary(4, 1))
        ));
        let late = [vec![b'a'; HEAD + 10], vec![0]].concat();
        assert!(matches!(lines(&late), Err(TextError::Binary(..))));
        assert_eq!(lines(b"").unwrap(), Vec::<String>::new());
    }

    #[test]
    fn lines_over_the_borders_of_buffers_are_whole() {
        let line = |n: usize| match n % 3 {
            0 => format!("{n} 线程 tps: {n}.25"),
            1 => format!("[ {n}s ] thds: 16"),
            _ => String::new(),
        };
        let ends = ["\n", "\r\n", "\x1b[0m\n"];
        let text: String = (0..40_000).map(|n| line(n) + ends[n % 7 % 3]).collect();
        assert!(text.len() > 4 * BUFFER);
        let whole: Vec<String> = (0..40_000).map(line).collect();
        assert_eq!(lines(text.as_bytes()).unwrap(), whole);
        let (encoded, ..) = GB18030.encode(&text);
        assert_eq!(lines(&encoded).unwrap(), whole);
    }

    #[test]
    fn bytes_that_are_no_text_and_marks_do_not_spread() {
        let bytes = b"\xef\xbb\xbf\xef\xbb\xbftps: 1\n\xff\xe4\xb8\ntps: 2\n\xe4";
        let read = ["tps: 1", "\u{fffd}\u{fffd}", "tps: 2", "\u{fffd}"];
        assert_eq!(lines(bytes).unwrap(), read);
    }

    #[test]
    fn a_line_without_end_is_cut() {
        let long = [vec![b'x'; 3 << 20], b"\nend\n".to_vec()].concat();
        let read = lines(&long).unwrap();
        assert_eq!((read[0].len(), &*read[1]), (LONGEST_LINE, "end"));
    }
}
