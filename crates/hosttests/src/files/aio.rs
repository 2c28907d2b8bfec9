//! The kernel's asynchronous I/O (io_submit(2)), as `--file-io-mode=async` has it.
#![allow(unsafe_code)]

use super::buffer::Buffer;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr::null_mut;

/// A request (linux/aio_abi.h, `struct iocb`, little-endian).
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Iocb {
    data: u64,
    key: u32,
    rw_flags: u32,
    opcode: u16,
    priority: i16,
    fd: u32,
    buffer: u64,
    bytes: u64,
    offset: i64,
    reserved: u64,
    flags: u32,
    event_fd: u32,
}

/// What came of one (`struct io_event`).
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct IoEvent {
    data: u64,
    request: u64,
    result: i64,
    result2: i64,
}

const READ: u16 = 0;
const WRITE: u16 = 1;

/// A thread's requests under way.
pub(crate) struct AioQueue {
    context: u64,
    most: usize,
    pending: usize,
    events: Vec<IoEvent>,
    /// What is read and written: nobody looks at it, so all requests have the same.
    buffer: Buffer,
}

impl AioQueue {
    /// For `most` requests at once, each of `length` bytes at most.
    pub fn new(most: usize, length: usize) -> io::Result<Self> {
        let mut context = 0u64;
        // SAFETY: the kernel writes the context's number there.
        let made = unsafe { libc::syscall(libc::SYS_io_setup, most, &raw mut context) };
        if made < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Self {
            context,
            most,
            pending: 0,
            events: vec![IoEvent::default(); most],
            buffer: Buffer::new(length),
        })
    }

    /// Submits a request; waits for others where there are as many as there may be.
    pub fn submit(
        &mut self,
        file: &File,
        offset: u64,
        length: usize,
        writes: bool,
    ) -> io::Result<()> {
        let buffer = self.buffer.bytes_mut();
        if length > buffer.len() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut request = Iocb {
            opcode: if writes { WRITE } else { READ },
            fd: file.as_raw_fd() as u32,
            buffer: buffer.as_mut_ptr() as u64,
            bytes: length as u64,
            offset: i64::try_from(offset).map_err(|_| io::ErrorKind::InvalidInput)?,
            // What it must come to.
            data: length as u64,
            ..Iocb::default()
        };
        let mut list = [&raw mut request];
        // SAFETY: the kernel copies the request, and the buffer lives until all requests have ended.
        let submitted =
            unsafe { libc::syscall(libc::SYS_io_submit, self.context, 1, list.as_mut_ptr()) };
        if submitted < 0 {
            return Err(io::Error::last_os_error());
        }
        self.pending += 1;
        match self.pending >= self.most {
            true => self.wait(1),
            false => Ok(()),
        }
    }

    /// Waits for all requests.
    pub fn drain(&mut self) -> io::Result<()> {
        while self.pending > 0 {
            self.wait(self.pending)?;
        }
        Ok(())
    }

    fn wait(&mut self, least: usize) -> io::Result<()> {
        // SAFETY: there is room for as many events.
        let ended = unsafe {
            libc::syscall(
                libc::SYS_io_getevents,
                self.context,
                least,
                self.most,
                self.events.as_mut_ptr(),
                null_mut::<libc::timespec>(),
            )
        };
        let Ok(ended) = usize::try_from(ended) else {
            let error = io::Error::last_os_error();
            // A signal only ended the wait.
            return match error.kind() {
                io::ErrorKind::Interrupted => Ok(()),
                _ => Err(error),
            };
        };
        self.pending = self.pending.saturating_sub(ended);
        for event in &self.events[..ended.min(self.most)] {
            if event.result < 0 {
                let code = i32::try_from(-event.result).unwrap_or(libc::EIO);
                return Err(io::Error::from_raw_os_error(code));
            }
            if event.result as u64 != event.data {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(())
    }
}

impl Drop for AioQueue {
    fn drop(&mut self) {
        // SAFETY: the context is this queue's; the kernel waits for its requests, which need the
        // buffer, before it returns.
        unsafe { libc::syscall(libc::SYS_io_destroy, self.context) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    #[test]
    fn all_that_was_submitted_is_written() {
        let file = tempfile::tempfile().unwrap();
        let mut queue = match AioQueue::new(3, 64) {
            Ok(queue) => queue,
            // Containers may forbid it.
            Err(error) => return assert_eq!(error.raw_os_error(), Some(libc::EPERM)),
        };
        queue.buffer.bytes_mut().fill(7);
        for n in 0..10 {
            queue.submit(&file, n * 64, 64, true).unwrap();
            assert!(queue.pending < 3);
        }
        queue.drain().unwrap();
        let mut read = [0; 640];
        file.read_exact_at(&mut read, 0).unwrap();
        assert_eq!(read, [7; 640]);
        // A read past the end is no success.
        queue.submit(&file, 620, 64, false).unwrap();
        assert!(queue.drain().is_err());
    }
}
