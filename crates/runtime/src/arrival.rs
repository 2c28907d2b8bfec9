//! When bytes came to this host, as its kernel saw it (`SO_TIMESTAMPNS`, socket(7)).
//!
//! Who reads a socket late stamps late. The kernel's stamp is the same whoever has the processor.

#[cfg(target_os = "linux")]
use crate::direct;
use std::io;
use std::num::NonZeroU64;
use std::time::Duration;

#[cfg(target_os = "linux")]
const NANOS_A_SECOND: u64 = 1_000_000_000;

/// Real time, the clock of the kernel's stamps, in nanoseconds since 1970: eight bytes, for each
/// session keeps one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp(NonZeroU64);

impl Stamp {
    /// The time now.
    #[cfg(target_os = "linux")]
    #[inline]
    pub fn now() -> Option<Self> {
        // As it is in the kernel's stamps: each statement begins with it.
        let now = nix::time::clock_gettime(nix::time::ClockId::CLOCK_REALTIME);
        Self::of(*now.ok()?.as_ref())
    }

    /// The time now.
    #[cfg(not(target_os = "linux"))]
    pub fn now() -> Option<Self> {
        use std::time::{SystemTime, UNIX_EPOCH};
        Self::new(SystemTime::now().duration_since(UNIX_EPOCH).ok()?)
    }

    /// The time from `earlier` to this; `None` when this is the earlier one, as after a step of the
    /// clock.
    pub fn since(self, earlier: Self) -> Option<Duration> {
        let nanos = self.0.get().checked_sub(earlier.0.get())?;
        Some(Duration::from_nanos(nanos))
    }

    /// The time since 1970.
    pub fn since_1970(self) -> Duration {
        Duration::from_nanos(self.0.get())
    }

    /// `None` for 1970 itself, and from 2554 on.
    pub fn new(since_1970: Duration) -> Option<Self> {
        let nanos = u64::try_from(since_1970.as_nanos()).ok()?;
        NonZeroU64::new(nanos).map(Self)
    }

    #[cfg(target_os = "linux")]
    fn of(time: libc::timespec) -> Option<Self> {
        let seconds = u64::try_from(time.tv_sec).ok()?;
        let nanos = seconds.checked_mul(NANOS_A_SECOND)?;
        NonZeroU64::new(nanos.checked_add(u64::try_from(time.tv_nsec).ok()?)?).map(Self)
    }
}

/// Asks the kernel to stamp what a socket receives; where it can't, [`receive`] has no stamps.
///
/// For the first socket of a host that asks, Linux turns stamping on in the background: what comes
/// within the first milliseconds may have none.
pub fn stamp(socket: &impl Receiving) {
    #[cfg(target_os = "linux")]
    let _ =
        nix::sys::socket::setsockopt(socket, nix::sys::socket::sockopt::ReceiveTimestampns, &true);
    #[cfg(not(target_os = "linux"))]
    let _ = socket;
}

/// A socket that can be received from.
#[cfg(target_os = "linux")]
pub trait Receiving: std::os::fd::AsFd {}
#[cfg(target_os = "linux")]
impl<T: std::os::fd::AsFd> Receiving for T {}
/// A socket that can be received from.
#[cfg(not(target_os = "linux"))]
pub trait Receiving: io::Read {}
#[cfg(not(target_os = "linux"))]
impl<T: io::Read> Receiving for T {}

/// Receives, with the time at which the last of the bytes came, if the kernel says it.
///
/// # Errors
/// As recvmsg(2).
#[cfg(target_os = "linux")]
#[inline]
pub fn receive(
    socket: &mut impl Receiving,
    buffer: &mut [u8],
) -> io::Result<(usize, Option<Stamp>)> {
    use std::os::fd::AsRawFd;
    receive_from(socket.as_fd().as_raw_fd(), buffer)
}

/// Room for one `timespec` with its header (cmsg(3)), aligned as a header is.
#[cfg(target_os = "linux")]
type Control = std::mem::MaybeUninit<[u64; 4]>;

/// Every reply comes through here: the call is made as it is, for a wrapper's general form costs more
/// than what is asked of it.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
fn receive_from(
    socket: std::os::fd::RawFd,
    buffer: &mut [u8],
) -> io::Result<(usize, Option<Stamp>)> {
    let mut control = Control::uninit();
    let mut into = libc::iovec {
        iov_base: buffer.as_mut_ptr().cast(),
        iov_len: buffer.len(),
    };
    // SAFETY: null pointers and lengths of 0 are a `msghdr` of nothing.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut into;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = size_of::<Control>() as _;
    // SAFETY: what the message points to is alive, writable and of the lengths that are given.
    let got = unsafe { direct::receive(socket, &mut message) }?;
    // SAFETY: the message is the one that the kernel has filled in, its control buffer alive.
    let stamp = unsafe { stamp_of(&message) };
    Ok((got, stamp.and_then(Stamp::of)))
}

/// The stamp of a message that was received.
///
/// # Safety
/// What the message points to must be alive, and as long as it says.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
unsafe fn stamp_of(message: &libc::msghdr) -> Option<libc::timespec> {
    /// Its header included.
    // SAFETY: it only computes.
    const LENGTH: u32 = unsafe { libc::CMSG_LEN(size_of::<libc::timespec>() as u32) };
    // SAFETY: the header is null or lies in the control buffer, whole (cmsg(3)). What follows it is
    // read through the same pointer, and not before its length was looked at: a `timespec`, as
    // socket(7) says, which need not be aligned.
    unsafe {
        let header = libc::CMSG_FIRSTHDR(message);
        let is_stamp = !header.is_null()
            && (*header).cmsg_level == libc::SOL_SOCKET
            && (*header).cmsg_type == libc::SCM_TIMESTAMPNS
            && (*header).cmsg_len as usize >= LENGTH as usize;
        is_stamp.then(|| {
            let stamp = libc::CMSG_DATA(header).cast::<libc::timespec>();
            stamp.read_unaligned()
        })
    }
}

/// Receives; this system has no stamps.
///
/// # Errors
/// As read(2).
#[cfg(not(target_os = "linux"))]
pub fn receive(
    socket: &mut impl Receiving,
    buffer: &mut [u8],
) -> io::Result<(usize, Option<Stamp>)> {
    Ok((socket.read(buffer)?, None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn a_clock_that_was_set_back_gives_no_time() {
        let before = Stamp::new(Duration::from_secs(2)).unwrap();
        let after = Stamp::new(Duration::from_secs(5)).unwrap();
        assert_eq!(after.since(before), Some(Duration::from_secs(3)));
        assert_eq!(before.since(after), None);
        assert_eq!(Stamp::new(Duration::ZERO), None);
    }

    /// Sends until the kernel stamps, which it begins to do some milliseconds after it was asked.
    #[test]
    #[cfg(target_os = "linux")]
    fn the_kernel_stamps_what_came_and_not_when_it_was_read() {
        const READ_LATER: Duration = Duration::from_millis(50);
        const ATTEMPTS: usize = 100;
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut socket, _) = listener.accept().unwrap();
        stamp(&socket);
        let mut buffer = [0; 8];
        let mut stamped = (0..ATTEMPTS).filter_map(|_| {
            let before = Stamp::now().unwrap();
            sender.write_all(b"abc").unwrap();
            std::thread::sleep(READ_LATER);
            let (n, stamp) = receive(&mut socket, &mut buffer).unwrap();
            assert_eq!(&buffer[..n], b"abc");
            Some((before, stamp?))
        });
        let (before, stamp) = stamped.next().expect("no stamp in five seconds");
        // Loopback delivers while the sender sends, or shortly after.
        let came = stamp.since(before).unwrap();
        assert!(came < READ_LATER / 2, "{came:?}");
        drop(sender);
        assert_eq!(receive(&mut socket, &mut buffer).unwrap(), (0, None));
    }
}
