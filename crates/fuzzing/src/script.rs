//! What a false server says, as a fuzzer writes it.
//!
//! The first byte is flags. The rest is cut into turns by [`CUT`]: the server says a turn when the
//! client waits. Turns are sent as they are, or, with [`Flags::framed`], as packets parted by
//! [`PACKET`], which get right lengths and numbers: so a change to one packet does not make nonsense
//! of all that follow.

/// Ends a turn.
pub const CUT: &[u8; 4] = b"\xF8CUT";
/// Ends a packet of a turn.
pub const PACKET: &[u8; 4] = b"\xF8PKT";
/// Stands for the nonce that the client sent in SCRAM.
pub const NONCE: &[u8; 4] = b"\xF8NON";

/// The first byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flags(pub u8);

impl Flags {
    /// What the client does, from 0.
    pub fn program(self) -> usize {
        usize::from(self.0 & 3)
    }

    /// Whether statements are sent as text.
    pub fn as_text(self) -> bool {
        self.0 & 4 != 0
    }

    /// Whether packets get their headers here.
    pub fn framed(self) -> bool {
        self.0 & 8 != 0
    }

    /// Whether the client believes to be on a network, where others listen.
    pub fn on_network(self) -> bool {
        self.0 & 16 != 0
    }
}

/// Flags and turns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FuzzScript {
    /// The first byte.
    pub flags: Flags,
    /// Each turn's packets; a turn that is sent as it is has pieces instead.
    pub turns: Vec<Vec<Vec<u8>>>,
}

impl FuzzScript {
    /// Reads any bytes.
    pub fn read(data: &[u8]) -> Self {
        let (first, rest) = data.split_first().unwrap_or((&0, &[]));
        let turns = split(rest, CUT);
        Self {
            flags: Flags(*first),
            turns: turns
                .map(|turn| split(turn, PACKET).map(<[u8]>::to_vec).collect())
                .collect(),
        }
    }

    /// What [`FuzzScript::read`] reads.
    pub fn write(&self) -> Vec<u8> {
        let turns: Vec<_> = self.turns.iter().map(|t| t.join(&PACKET[..])).collect();
        [&[self.flags.0], &turns.join(&CUT[..])[..]].concat()
    }
}

fn split<'a>(bytes: &'a [u8], mark: &'a [u8; 4]) -> impl Iterator<Item = &'a [u8]> {
    let mut rest = Some(bytes);
    std::iter::from_fn(move || {
        let bytes = rest?;
        match bytes.windows(mark.len()).position(|w| w == mark) {
            Some(at) => {
                rest = Some(&bytes[at + mark.len()..]);
                Some(&bytes[..at])
            }
            None => rest.take(),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let script = FuzzScript {
            flags: Flags(9),
            turns: vec![vec![b"a".to_vec(), b"".to_vec()], vec![b"bc".to_vec()]],
        };
        assert_eq!(script.write(), b"\x09a\xF8PKT\xF8CUTbc");
        assert_eq!(FuzzScript::read(&script.write()), script);
        assert_eq!(FuzzScript::read(b"").turns, [[b""]]);
    }
}
