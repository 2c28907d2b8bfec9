//! A file in memory (mmap(2)).
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr::{copy_nonoverlapping, null_mut};

/// A file's bytes, shared with it.
pub(crate) struct FileMapping {
    start: *mut u8,
    length: usize,
}

// SAFETY: threads only copy bytes into it and out of it, of which nobody relies on the order.
unsafe impl Send for FileMapping {}
// SAFETY: as above.
unsafe impl Sync for FileMapping {}

impl FileMapping {
    pub fn new(file: &File, length: u64, writes: bool) -> io::Result<Self> {
        let length = usize::try_from(length).map_err(|_| io::ErrorKind::OutOfMemory)?;
        let write = if writes { libc::PROT_WRITE } else { 0 };
        let protection = libc::PROT_READ | write;
        // SAFETY: a new mapping, of a file whose size was looked at.
        let start = unsafe {
            let (shared, fd) = (libc::MAP_SHARED, file.as_raw_fd());
            libc::mmap(null_mut(), length, protection, shared, fd, 0)
        };
        match start == libc::MAP_FAILED {
            true => Err(io::Error::last_os_error()),
            false => Ok(Self {
                start: start.cast(),
                length,
            }),
        }
    }

    fn place(&self, offset: u64, length: usize) -> io::Result<*mut u8> {
        let offset = usize::try_from(offset).map_err(|_| io::ErrorKind::InvalidInput)?;
        match offset
            .checked_add(length)
            .is_some_and(|end| end <= self.length)
        {
            // SAFETY: within the mapping.
            true => Ok(unsafe { self.start.add(offset) }),
            false => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    pub fn read(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        let from = self.place(offset, into.len())?;
        // SAFETY: as many bytes are mapped there, and `into` is elsewhere.
        unsafe { copy_nonoverlapping(from, into.as_mut_ptr(), into.len()) };
        Ok(())
    }

    pub fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let to = self.place(offset, bytes.len())?;
        // SAFETY: as many bytes are mapped there for writing, and `bytes` are elsewhere.
        unsafe { copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
        Ok(())
    }

    pub fn sync(&self) -> io::Result<()> {
        let flags = libc::MS_SYNC | libc::MS_INVALIDATE;
        // SAFETY: it is mapped with this length.
        match unsafe { libc::msync(self.start.cast(), self.length, flags) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// Gives a file all its blocks: a store into memory whose block the disk has no room for has no error to
/// give, and ends the process by SIGBUS (mmap(2)). What the file holds stays.
pub(crate) fn reserve(file: &File, length: u64) -> io::Result<()> {
    let length = libc::off_t::try_from(length).map_err(|_| io::ErrorKind::FileTooLarge)?;
    loop {
        // SAFETY: the file is open.
        match unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, length) } {
            0 => return Ok(()),
            libc::EINTR => {}
            // It returns the error, and leaves errno as it is.
            error => return Err(io::Error::from_raw_os_error(error)),
        }
    }
}

impl Drop for FileMapping {
    fn drop(&mut self) {
        // SAFETY: it is mapped with this length, and nobody has it any more.
        unsafe { libc::munmap(self.start.cast(), self.length) };
    }
}
