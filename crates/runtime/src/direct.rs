//! System calls made directly.
//!
//! The C library's `send` and `recvmsg` are points at which a thread may be cancelled
//! (pthreads(7), "Cancellation points"): in a process with several threads each of them changes the
//! thread's cancellation type and changes it back, with locked instructions. Nothing here is ever
//! cancelled in that way, and there is one of each a query.

#![allow(unsafe_code)]

use libc::c_long;
use std::io;
use std::os::fd::RawFd;

/// recvmsg(2), without flags; what the message is filled with.
///
/// # Errors
/// As recvmsg(2).
///
/// # Safety
/// What the message points to must be alive and as long as it says.
pub unsafe fn receive(socket: RawFd, message: &mut libc::msghdr) -> io::Result<usize> {
    let (socket, flags) = (c_long::from(socket), c_long::from(0));
    let message = std::ptr::from_mut(message);
    // SAFETY: the caller vouches for what the message points to.
    result(unsafe { libc::syscall(libc::SYS_recvmsg, socket, message, flags) })
}

/// send(2), which raises no signal when the peer has gone; how much was sent.
///
/// # Errors
/// As send(2).
pub fn send(socket: RawFd, bytes: &[u8]) -> io::Result<usize> {
    // sendto(2): without an address it is send(2). What is variadic is passed as wide as a register.
    // SAFETY: the bytes are alive and as long as is said, and only read.
    result(unsafe {
        libc::syscall(
            libc::SYS_sendto,
            c_long::from(socket),
            bytes.as_ptr(),
            bytes.len(),
            c_long::from(libc::MSG_NOSIGNAL),
            std::ptr::null::<libc::sockaddr>(),
            c_long::from(0),
        )
    })
}

fn result(returned: c_long) -> io::Result<usize> {
    usize::try_from(returned).map_err(|_| io::Error::last_os_error())
}
