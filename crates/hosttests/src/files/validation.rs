//! Blocks that tell whether they are what was written: random bytes, their CRC-32 (ISO 3309), and
//! where the block begins, little-endian. Blocks that sysbench 1.0.20 writes with `--validate` look
//! the same.

use crate::random::Random;

/// Bytes of the checksum and the place.
const TRAILER: usize = 4 + 8;

/// Fills a block that begins at `offset` of its file.
pub(crate) fn fill(block: &mut [u8], offset: u64, random: &mut Random) {
    let Some(end) = block.len().checked_sub(TRAILER) else {
        return;
    };
    let (data, trailer) = block.split_at_mut(end);
    for chunk in data.chunks_mut(8) {
        let bytes = random.next().to_le_bytes();
        chunk.copy_from_slice(&bytes[..chunk.len()]);
    }
    trailer[..4].copy_from_slice(&crc32fast::hash(data).to_le_bytes());
    trailer[4..].copy_from_slice(&offset.to_le_bytes());
}

/// How a block differs from what was written at `offset`; `None` when it does not.
pub(crate) fn difference(block: &[u8], offset: u64) -> Option<String> {
    let (data, trailer) = block.split_at(block.len().checked_sub(TRAILER)?);
    let mut stored = [0; 4];
    let mut place = [0; 8];
    stored.copy_from_slice(&trailer[..4]);
    place.copy_from_slice(&trailer[4..]);
    let (stored, place) = (u32::from_le_bytes(stored), u64::from_le_bytes(place));
    let found = crc32fast::hash(data);
    if found != stored {
        return Some(format!("checksum {found:#010x}, stored {stored:#010x}"));
    }
    (place != offset).then(|| format!("it was written at offset {place}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_changed_byte_is_found(length in 13usize..600, at: prop::sample::Index, offset: u64) {
            let mut block = vec![0; length];
            fill(&mut block, offset, &mut Random::new(1, 0));
            prop_assert_eq!(difference(&block, offset), None);
            block[at.index(length)] ^= 1;
            prop_assert!(difference(&block, offset).is_some());
        }
    }

    #[test]
    fn a_block_of_sysbench_is_understood() {
        // The first bytes of "sysbench fileio --validate=on prepare", shortened: data, CRC, place.
        let data = [0x4f, 0x38, 0x96, 0xb9];
        let mut block = data.to_vec();
        block.extend(crc32fast::hash(&data).to_le_bytes());
        block.extend(16384u64.to_le_bytes());
        assert_eq!(difference(&block, 16384), None);
        assert!(difference(&block, 0).unwrap().contains("16384"));
    }
}
