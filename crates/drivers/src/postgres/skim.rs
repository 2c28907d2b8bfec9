//! Walks the server's messages across pieces of any size without keeping what nobody wants.

use tidemark_core::DbError;

/// Bytes before a message's body: its type and its length.
const HEADER: usize = 5;
/// What was needed for longer messages than this is not kept for the next one.
const KEPT_BUFFER: usize = 256;

/// Takes the messages that a [`Skimmer`] finds.
pub(super) trait Visitor {
    /// How many bytes from the front of a message's body are wanted; asked by type and length
    /// before the body has come, possibly more than once.
    ///
    /// # Errors
    /// When no such message may come.
    fn wanted(&self, tag: u8, length: usize) -> Result<usize, DbError>;

    /// A message has begun and as much of its body as was wanted is there.
    ///
    /// # Errors
    /// When the message breaks the protocol.
    fn message(&mut self, tag: u8, body: &[u8]) -> Result<(), DbError>;

    /// A message has come in one piece.
    ///
    /// # Errors
    /// As [`Visitor::wanted`] and [`Visitor::message`].
    fn whole(&mut self, tag: u8, body: &[u8]) -> Result<(), DbError> {
        self.one(tag, body)
    }

    /// A whole message, whatever it is.
    ///
    /// # Errors
    /// As [`Visitor::whole`].
    fn one(&mut self, tag: u8, body: &[u8]) -> Result<(), DbError> {
        let wanted = self.wanted(tag, body.len())?.min(body.len());
        self.message(tag, &body[..wanted])
    }
}

/// Where a session is in the server's stream of messages. Between messages it holds nothing.
#[derive(Debug, Default)]
pub(super) struct Skimmer {
    /// The header and the wanted bytes of a message that has not wholly come.
    partial: Vec<u8>,
    /// Unwanted bytes still to come.
    skip: usize,
}

/// The type and body length that a header tells.
fn header(bytes: &[u8]) -> Result<Option<(u8, usize)>, DbError> {
    let [tag, a, b, c, d, ..] = *bytes else {
        return Ok(None);
    };
    let length = u32::from_be_bytes([a, b, c, d]);
    if !(4..=i32::MAX as u32).contains(&length) {
        return Err(DbError::protocol(format!(
            "the server sent a message of type {} with the impossible length {length}",
            char::from(tag).escape_default()
        )));
    }
    Ok(Some((tag, length as usize - 4)))
}

impl Skimmer {
    /// Walks all of `input`.
    ///
    /// # Errors
    /// Those of the visitor, and impossible lengths; the stream can't be understood after that.
    pub fn skim(&mut self, mut input: &[u8], visitor: &mut impl Visitor) -> Result<(), DbError> {
        loop {
            while let Some((tag, body)) = self.whole(&mut input) {
                visitor.whole(tag, body)?;
            }
            if self.skip > 0 {
                let n = self.skip.min(input.len());
                self.skip -= n;
                input = &input[n..];
            }
            if input.is_empty() {
                return Ok(());
            }
            if !self.partial.is_empty() {
                self.complete(&mut input, visitor)?;
                continue;
            }
            let Some((tag, length)) = header(input)? else {
                self.partial.extend_from_slice(input);
                return Ok(());
            };
            let wanted = visitor.wanted(tag, length)?.min(length);
            let Some(body) = input.get(HEADER..HEADER + wanted) else {
                self.partial.extend_from_slice(input);
                return Ok(());
            };
            self.skip = length - wanted;
            input = &input[HEADER + wanted..];
            visitor.message(tag, body)?;
        }
    }

    /// Takes a message that came in one piece, as nearly all do.
    #[inline]
    fn whole<'i>(&self, input: &mut &'i [u8]) -> Option<(u8, &'i [u8])> {
        let (&[tag, a, b, c, d], rest) = input.split_first_chunk::<HEADER>()?;
        if self.skip > 0 || !self.partial.is_empty() {
            return None;
        }
        let length = (u32::from_be_bytes([a, b, c, d]) as usize).checked_sub(4)?;
        let (body, rest) = rest.split_at_checked(length)?;
        *input = rest;
        Some((tag, body))
    }

    /// Adds to the message in `partial`, and hands it over when it is complete.
    fn complete(&mut self, input: &mut &[u8], visitor: &mut impl Visitor) -> Result<(), DbError> {
        self.fill(HEADER, input);
        let Some((tag, length)) = header(&self.partial)? else {
            return Ok(());
        };
        let wanted = visitor.wanted(tag, length)?.min(length);
        self.fill(HEADER + wanted, input);
        if self.partial.len() < HEADER + wanted {
            return Ok(());
        }
        self.skip = length - wanted;
        visitor.message(tag, &self.partial[HEADER..])?;
        self.partial.clear();
        if self.partial.capacity() > KEPT_BUFFER {
            self.partial = Vec::new();
        }
        Ok(())
    }

    /// Moves bytes from `input` to `partial` until that holds `upto`.
    fn fill(&mut self, upto: usize, input: &mut &[u8]) {
        let n = upto.saturating_sub(self.partial.len()).min(input.len());
        let (taken, rest) = input.split_at(n);
        self.partial.extend_from_slice(taken);
        *input = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Wants as many bytes as the type's number, and notes what it gets.
    #[derive(Default)]
    struct Notes(Vec<(u8, Vec<u8>)>);

    impl Visitor for Notes {
        fn wanted(&self, tag: u8, _: usize) -> Result<usize, DbError> {
            Ok(usize::from(tag))
        }

        fn message(&mut self, tag: u8, body: &[u8]) -> Result<(), DbError> {
            self.0.push((tag, body.to_vec()));
            Ok(())
        }
    }

    fn encoded(messages: &[(u8, Vec<u8>)]) -> Vec<u8> {
        let mut out = Vec::new();
        for (tag, body) in messages {
            out.push(*tag);
            out.extend_from_slice(&(body.len() as u32 + 4).to_be_bytes());
            out.extend_from_slice(body);
        }
        out
    }

    proptest! {
        #[test]
        fn cuts_anywhere_change_nothing(
            messages in prop::collection::vec((0u8..20, prop::collection::vec(any::<u8>(), 0..40)), 0..8),
            cuts in prop::collection::vec(1usize..9, 1..30),
        ) {
            let bytes = encoded(&messages);
            let expected: Vec<_> = messages
                .iter()
                .map(|(tag, body)| (*tag, body[..body.len().min(usize::from(*tag))].to_vec()))
                .collect();
            let mut skimmer = Skimmer::default();
            let mut notes = Notes::default();
            let mut rest = &bytes[..];
            for n in cuts.iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (piece, after) = rest.split_at(*n.min(&rest.len()));
                skimmer.skim(piece, &mut notes).unwrap();
                rest = after;
            }
            prop_assert_eq!(notes.0, expected);
            prop_assert!(skimmer.partial.is_empty() && skimmer.skip == 0);
        }

        #[test]
        fn random_bytes_are_skimmed_or_refused(pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..64), 0..16)) {
            let mut skimmer = Skimmer::default();
            let mut notes = Notes::default();
            let given: usize = pieces.iter().map(Vec::len).sum();
            for piece in &pieces {
                if skimmer.skim(piece, &mut notes).is_err() {
                    break;
                }
            }
            prop_assert!(skimmer.partial.len() <= given);
        }
    }

    #[test]
    fn an_impossible_length_is_refused() {
        for length in [0u32, 3, 0x8000_0000] {
            let mut bytes = vec![b'Z'];
            bytes.extend_from_slice(&length.to_be_bytes());
            let error = Skimmer::default()
                .skim(&bytes, &mut Notes::default())
                .unwrap_err();
            assert_eq!(error.code, "protocol");
        }
    }

    #[test]
    fn a_huge_unwanted_body_costs_nothing() {
        let mut skimmer = Skimmer::default();
        let mut head = vec![0];
        head.extend_from_slice(&0x7fff_ffffu32.to_be_bytes());
        skimmer.skim(&head, &mut Notes::default()).unwrap();
        skimmer.skim(&[7; 1000], &mut Notes::default()).unwrap();
        assert_eq!(skimmer.skip, 0x7fff_ffff - 4 - 1000);
        assert_eq!(skimmer.partial.capacity(), 0);
    }
}
