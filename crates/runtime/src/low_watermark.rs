//! With how many bytes a socket is ready to be read (`SO_RCVLOWAT`, socket(7)).
//!
//! Who awaits several replies has nothing to do after the first. Linux's TCP neither wakes a reader
//! nor tells a poller before so many bytes are there, or the connection has ended; Unix sockets do.

use std::io;
use std::num::NonZeroU16;

/// A socket.
#[cfg(target_os = "linux")]
pub trait Socket: std::os::fd::AsFd {}
#[cfg(target_os = "linux")]
impl<T: std::os::fd::AsFd> Socket for T {}
/// A socket.
#[cfg(not(target_os = "linux"))]
pub trait Socket {}
#[cfg(not(target_os = "linux"))]
impl<T> Socket for T {}

/// Makes the socket ready with so many bytes; whether it can be made so. Bytes that are there
/// already tell of themselves, if they are as many.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
pub fn set(socket: &impl Socket, least: u16) -> bool {
    use std::os::fd::AsRawFd;
    let value = libc::c_int::from(least);
    // SAFETY: the pointer is to a live integer of the length that is given, which the call only
    // reads; the descriptor is borrowed, so it is open.
    let result = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_RCVLOWAT,
            (&raw const value).cast(),
            size_of_val(&value) as libc::socklen_t,
        )
    };
    result == 0
}

/// Holds up the thread for so many milliseconds at most, until the socket is ready; whether it is.
///
/// # Errors
/// As poll(2).
#[cfg(target_os = "linux")]
pub fn wait(socket: &impl Socket, longest: NonZeroU16) -> io::Result<bool> {
    use nix::errno::Errno;
    use nix::poll::{PollFd, PollFlags, poll};
    let mut all = [PollFd::new(socket.as_fd(), PollFlags::POLLIN)];
    match poll(&mut all, longest.get()) {
        Ok(ready) => Ok(ready > 0),
        Err(Errno::EINTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Other systems' pollers know nothing of it.
#[cfg(not(target_os = "linux"))]
pub fn set(_: &impl Socket, _: u16) -> bool {
    false
}

/// Not asked for where [`set`] did nothing.
///
/// # Errors
/// None.
#[cfg(not(target_os = "linux"))]
pub fn wait(_: &impl Socket, _: NonZeroU16) -> io::Result<bool> {
    Ok(true)
}
