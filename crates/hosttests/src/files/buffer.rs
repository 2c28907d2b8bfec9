//! Buffers as O_DIRECT wants them.

/// Every block size of disks divides it, and pages are that large.
const ALIGNMENT: usize = 4096;

/// Bytes that begin at a page's begin.
pub(crate) struct Buffer {
    bytes: Vec<u8>,
    start: usize,
    length: usize,
}

impl Buffer {
    pub fn new(length: usize) -> Self {
        let bytes = vec![0u8; length + ALIGNMENT];
        // A vector that is not resized stays where it is.
        let start = bytes.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
        Self {
            bytes,
            start,
            length,
        }
    }

    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..self.start + self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_begins_at_a_page() {
        for length in [1, 512, 16384] {
            let mut buffer = Buffer::new(length);
            assert_eq!(buffer.bytes_mut().len(), length);
            assert_eq!(buffer.bytes_mut().as_ptr() as usize % ALIGNMENT, 0);
        }
    }
}
