//! The text that comments are cut from (clause 4.2.2.14): 300 MiB of random sentences, which are the
//! same in every database. dbgen and `tpchgen` hold it in memory. Here only a mark every [`STEP`] bytes
//! is kept, from which the sentences around a comment are made again: some 30 MB.

use std::sync::LazyLock;
use tpchgen::distribution::{Distribution, Distributions};

/// Bytes of the whole text (clause 4.2.2.14, as dbgen has it).
pub(super) const LENGTH: i32 = 300 * 1024 * 1024;
/// Bytes from one mark to the next.
const STEP: usize = 64;
/// More than a sentence, a step and the longest comment together.
const ROOM: usize = 1024;
/// More than the longest word with the blank after it.
const LONGEST_WORD: usize = 16;
/// dbgen's seed of the text.
const SEED: u64 = 933_588_178;

/// Makes any part of the text.
#[derive(Debug)]
pub(super) struct Prose {
    grammar: Grammar,
    /// Of every [`STEP`]th byte of the text.
    marks: Vec<Packed>,
}

/// Where a comment is in the text.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TextPosition {
    mark: Packed,
    /// Bytes from the marked one on.
    after: u16,
    length: u16,
}

/// The random numbers' state where the sentence begins that holds a byte, low half first, and how far
/// into that sentence the byte is. Together, because reading one is a miss of the caches.
type Packed = [u16; 3];

fn pack(state: u32, into: usize) -> Packed {
    [state as u16, (state >> 16) as u16, into as u16]
}

fn unpack([low, high, into]: Packed) -> (u32, usize) {
    (u32::from(low) | u32::from(high) << 16, into.into())
}

static PROSE: LazyLock<Prose> = LazyLock::new(Prose::new);

impl Prose {
    /// The text; the first call goes through all of it once.
    pub fn get() -> &'static Self {
        &PROSE
    }

    fn new() -> Self {
        let grammar = Grammar::new(Distributions::static_default());
        let steps = LENGTH as usize / STEP;
        let mut marks = Vec::with_capacity(steps);
        let mut random = Random(SEED);
        let mut at = 0;
        while marks.len() < steps {
            let state = random.0 as u32;
            let mut length = Length(0);
            grammar.sentence(&mut random, &mut length);
            let end = at + length.0;
            while marks.len() < steps && marks.len() * STEP < end {
                marks.push(pack(state, marks.len() * STEP - at));
            }
            at = end;
        }
        Self { grammar, marks }
    }

    /// Where `length` bytes from byte `offset` are. To be asked for several at a time: the caches
    /// miss, and the processor waits for one as long as for all.
    pub fn find(&self, offset: usize, length: usize) -> TextPosition {
        TextPosition {
            mark: self.marks.get(offset / STEP).copied().unwrap_or_default(),
            after: (offset % STEP) as u16,
            length: length as u16,
        }
    }

    /// The bytes of a place, made in `room`.
    pub fn cut<'r>(&self, place: TextPosition, room: &'r mut Room) -> &'r mut [u8] {
        let (state, into) = unpack(place.mark);
        let (first, length) = (into + usize::from(place.after), usize::from(place.length));
        let mut random = Random(state.into());
        room.end = 0;
        while room.end < first + length && room.end + ROOM / 2 < ROOM {
            self.grammar.sentence(&mut random, room);
        }
        room.bytes
            .get_mut(first..first + length)
            .unwrap_or_default()
    }
}

/// Where a part of the text is made.
#[derive(Debug)]
pub(super) struct Room {
    bytes: [u8; ROOM],
    end: usize,
}

impl Default for Room {
    fn default() -> Self {
        Self {
            bytes: [0; ROOM],
            end: 0,
        }
    }
}

/// dbgen's random numbers (clause 4.2.2.13): multiplied by 16807 modulo 2^31 - 1.
struct Random(u64);

impl Random {
    const MODULUS: u64 = (1 << 31) - 1;

    /// The next one, below `bound`: the whole part of `bound` times a fraction of one. dbgen computes
    /// it in floating point; it is the same, because no such product is as near to a whole number as
    /// its errors are large.
    fn below(&mut self, bound: usize) -> usize {
        self.0 = remainder(self.0 * 16_807);
        quotient(self.0 * bound as u64) as usize
    }
}

/// `x` modulo 2^31 - 1, for `x` below 2^61.
fn remainder(x: u64) -> u64 {
    let folded = (x & Random::MODULUS) + (x >> 31);
    let folded = (folded & Random::MODULUS) + (folded >> 31);
    if folded == Random::MODULUS { 0 } else { folded }
}

/// `x` divided by 2^31 - 1, for `x` below 2^61.
fn quotient(x: u64) -> u64 {
    x / Random::MODULUS
}

/// What becomes of the words of a sentence.
trait Out {
    fn word(&mut self, word: &Word);
    /// Takes the last byte back.
    fn back(&mut self);
}

/// Only counts them.
struct Length(usize);

impl Out for Length {
    fn word(&mut self, word: &Word) {
        self.0 += word.length;
    }

    fn back(&mut self) {
        self.0 -= 1;
    }
}

impl Out for Room {
    fn word(&mut self, word: &Word) {
        // Of a fixed length: what is too much is written over.
        if let Some(place) = self.bytes.get_mut(self.end..self.end + LONGEST_WORD) {
            place.copy_from_slice(&word.bytes);
        }
        self.end += word.length;
    }

    fn back(&mut self) {
        self.end = self.end.saturating_sub(1);
    }
}

#[derive(Debug, Clone, Copy)]
struct Word {
    bytes: [u8; LONGEST_WORD],
    length: usize,
}

impl Word {
    fn new(text: &str) -> Self {
        let mut bytes = [b' '; LONGEST_WORD];
        let length = text.len().min(LONGEST_WORD);
        bytes[..length].copy_from_slice(&text.as_bytes()[..length]);
        Self { bytes, length }
    }
}

/// Which words a slot of a phrase takes.
type Words = Vec<Word>;
/// A kind of words, and whether a comma follows.
type Slot = (usize, bool);
/// A kind of phrase, and whether a preposition and an article stand before it.
type Part = (Phrase, bool);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phrase {
    Noun,
    Verb,
}

const NOUNS: usize = 0;
const ADJECTIVES: usize = 1;
const ADVERBS: usize = 2;
const ARTICLES: usize = 3;
const VERBS: usize = 4;
const AUXILIARIES: usize = 5;

/// The pseudo text's grammar (clause 4.2.2.14). Every list holds each entry as often as it weighs.
#[derive(Debug)]
struct Grammar {
    sentences: Vec<Vec<Part>>,
    noun_phrases: Vec<Vec<Slot>>,
    verb_phrases: Vec<Vec<Slot>>,
    words: [Words; 6],
    prepositions: Words,
    /// Ends of sentences, with the blank after them.
    terminators: Words,
    the: Word,
    comma: Word,
}

impl Grammar {
    fn new(lists: &Distributions) -> Self {
        let words = |list: &Distribution| weighed(list, |text| Word::new(&format!("{text} ")));
        let noun = |letter| match letter {
            'A' => ARTICLES,
            'J' => ADJECTIVES,
            'D' => ADVERBS,
            _ => NOUNS,
        };
        let verb = |letter| match letter {
            'X' => AUXILIARIES,
            'D' => ADVERBS,
            _ => VERBS,
        };
        Self {
            sentences: weighed(lists.grammar(), sentence),
            noun_phrases: weighed(lists.noun_phrase(), |form| slots(form, noun)),
            verb_phrases: weighed(lists.verb_phrase(), |form| slots(form, verb)),
            words: [
                lists.nouns(),
                lists.adjectives(),
                lists.adverbs(),
                lists.articles(),
                lists.verbs(),
                lists.auxiliaries(),
            ]
            .map(words),
            prepositions: words(lists.prepositions()),
            terminators: words(lists.terminators()),
            the: Word::new("the "),
            comma: Word::new(", "),
        }
    }

    /// One sentence, with the blank after it.
    fn sentence(&self, random: &mut Random, out: &mut impl Out) {
        for (phrase, prepositional) in drawn(&self.sentences, random) {
            if *prepositional {
                out.word(drawn(&self.prepositions, random));
                out.word(&self.the);
            }
            let phrases = match phrase {
                Phrase::Noun => &self.noun_phrases,
                Phrase::Verb => &self.verb_phrases,
            };
            for (kind, comma) in drawn(phrases, random) {
                out.word(drawn(&self.words[*kind], random));
                if *comma {
                    out.back();
                    out.word(&self.comma);
                }
            }
        }
        out.back();
        out.word(drawn(&self.terminators, random));
    }
}

fn drawn<'l, T>(list: &'l [T], random: &mut Random) -> &'l T {
    &list[random.below(list.len())]
}

/// Each entry of a list as often as it weighs.
fn weighed<T: Clone>(list: &Distribution, made: impl Fn(&str) -> T) -> Vec<T> {
    let mut all = Vec::new();
    for (at, text) in list.get_values().iter().enumerate() {
        // The weights are summed up.
        let upto = usize::try_from(list.get_weight(at)).unwrap_or(0);
        all.resize(upto.max(all.len()), made(text));
    }
    all
}

/// `N V P T`: a noun phrase, a verb phrase, a noun phrase after a preposition, and the end.
fn sentence(form: &str) -> Vec<Part> {
    let part = |letter| match letter {
        'N' => Some((Phrase::Noun, false)),
        'V' => Some((Phrase::Verb, false)),
        'P' => Some((Phrase::Noun, true)),
        _ => None,
    };
    form.chars().filter_map(part).collect()
}

/// `J, J N`: an adjective and a comma, another one, and a noun.
fn slots(form: &str, kind: impl Fn(char) -> usize) -> Vec<Slot> {
    let word = |word: &str| {
        word.chars()
            .next()
            .map(|letter| (kind(letter), word.ends_with(',')))
    };
    form.split_whitespace().filter_map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tpchgen::text::TextPool;

    /// The first MiB and what follows it, byte by byte, against tpchgen's.
    #[test]
    fn the_text_is_dbgens() {
        let theirs = TextPool::new(1 << 20, Distributions::static_default());
        let prose = Prose::get();
        let mut room = Room::default();
        for offset in (0..(1 << 20) - 512).step_by(97) {
            let length = 20 + offset % 180;
            let ours = prose.cut(prose.find(offset, length), &mut room);
            let ours = std::str::from_utf8(ours).unwrap();
            assert_eq!(ours, theirs.text(offset as i32, (offset + length) as i32));
        }
    }

    #[test]
    fn whole_parts_are_those_of_floating_point() {
        let mut random = Random(SEED);
        for bound in (1..400).cycle().take(2_000_000) {
            let ours = random.below(bound);
            let theirs = (random.0 as f64 / Random::MODULUS as f64) * bound as f64;
            assert_eq!(ours, theirs as usize);
        }
    }
}
