//! When bytes came to this host, as its kernel saw it (`SO_TIMESTAMPNS`, socket(7)).
//!
//! Who reads a socket late stamps late. The kernel's stamp is the same whoever has the processor.

use std::cell::Cell;
use std::io;
use std::num::NonZeroU64;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How long the two clocks are taken to go alike. Only a step of the real one parts them: slewing
/// moves both.
const HOLDS: Duration = Duration::from_millis(100);
/// Between reading the one and the other; more is read again, the thread may have been away.
const AT_ONCE: Duration = Duration::from_micros(2);
const TRIES: u32 = 4;

/// Real time, in nanoseconds since 1970: eight bytes, for each session keeps one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp(NonZeroU64);

impl Stamp {
    /// `None` for 1970 itself, and from 2554 on.
    fn new(since_1970: Duration) -> Option<Self> {
        let nanos = u64::try_from(since_1970.as_nanos()).ok()?;
        NonZeroU64::new(nanos).map(Self)
    }

    fn since_1970(self) -> Duration {
        Duration::from_nanos(self.0.get())
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
pub fn receive(
    socket: &mut impl Receiving,
    buffer: &mut [u8],
) -> io::Result<(usize, Option<Stamp>)> {
    use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg};
    use std::os::fd::AsRawFd;
    // One `timespec` with its header (cmsg(3)).
    let mut control = [0u8; 32];
    let fd = socket.as_fd().as_raw_fd();
    let mut into = [io::IoSliceMut::new(buffer)];
    let got = recvmsg::<()>(fd, &mut into, Some(&mut control), MsgFlags::empty())?;
    let stamp = got.cmsgs().ok().and_then(|mut all| {
        all.find_map(|one| match one {
            ControlMessageOwned::ScmTimestampns(at) => Stamp::new(at.into()),
            _ => None,
        })
    });
    Ok((got.bytes, stamp))
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

/// Turns stamps, which are in real time, into moments of the monotonic clock.
#[derive(Debug, Default)]
pub struct ArrivalClock(Cell<Option<Anchor>>);

/// The same moment on both clocks.
#[derive(Debug, Clone, Copy)]
struct Anchor {
    at: Instant,
    real: Duration,
}

impl ArrivalClock {
    /// The moment of a stamp that was received just now; `None` when it does not lie between
    /// `since` and now, because the real clock was set meanwhile.
    pub fn moment(&self, stamp: Stamp, since: Instant) -> Option<Instant> {
        let stamp = stamp.since_1970();
        let anchor = match self.0.get() {
            Some(anchor) if anchor.real.abs_diff(stamp) <= HOLDS => anchor,
            _ => self.cast()?,
        };
        let moment = match stamp.checked_sub(anchor.real) {
            Some(later) => anchor.at.checked_add(later)?,
            None => anchor.at.checked_sub(anchor.real - stamp)?,
        };
        if moment < since || moment > Instant::now() {
            self.0.set(None);
            return None;
        }
        Some(moment)
    }

    /// Reads both clocks at once, or as nearly as it can be done.
    fn cast(&self) -> Option<Anchor> {
        let mut best: Option<(Duration, Anchor)> = None;
        for _ in 0..TRIES {
            let at = Instant::now();
            let real = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
            let apart = at.elapsed();
            if best.is_none_or(|(least, _)| apart < least) {
                best = Some((apart, Anchor { at, real }));
            }
            if apart <= AT_ONCE {
                break;
            }
        }
        let anchor = best.map(|(_, anchor)| anchor);
        self.0.set(anchor);
        anchor
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};

    fn real() -> Duration {
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap()
    }

    fn moment(clock: &ArrivalClock, stamp: Duration, since: Instant) -> Option<Instant> {
        clock.moment(Stamp::new(stamp).unwrap(), since)
    }

    #[test]
    fn a_stamp_becomes_the_moment_it_was_made_at() {
        let clock = ArrivalClock::default();
        for _ in 0..100 {
            let before = Instant::now();
            let stamp = real();
            let after = Instant::now();
            let found = moment(&clock, stamp, before - AT_ONCE).unwrap();
            assert!(found <= after + AT_ONCE, "{:?}", found - after);
        }
    }

    /// A clock that was set gives stamps out of the range that is possible.
    #[test]
    fn a_stamp_that_cannot_be_is_none() {
        let clock = ArrivalClock::default();
        let since = Instant::now();
        let hour = Duration::from_secs(3600);
        assert_eq!(moment(&clock, real() + hour, since), None);
        assert_eq!(moment(&clock, real() - hour, since), None);
        assert_eq!(
            moment(&clock, real() - Duration::from_millis(50), since),
            None
        );
        assert!(moment(&clock, real(), since).is_some());
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
            let before = Instant::now();
            sender.write_all(b"abc").unwrap();
            let after = Instant::now();
            std::thread::sleep(READ_LATER);
            let (n, stamp) = receive(&mut socket, &mut buffer).unwrap();
            assert_eq!(&buffer[..n], b"abc");
            Some((before, after, stamp?))
        });
        let (before, after, stamp) = stamped.next().expect("no stamp in five seconds");
        let came = ArrivalClock::default().moment(stamp, before).unwrap();
        // Loopback delivers while the sender sends, or shortly after.
        assert!(came < after + READ_LATER / 2, "{:?}", came - after);
        drop(sender);
        assert_eq!(receive(&mut socket, &mut buffer).unwrap(), (0, None));
    }
}
