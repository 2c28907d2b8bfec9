//! What the kernel knows of the way to a peer (`TCP_INFO`, tcp(7)), of this process's own sockets.
//!
//! Sockets are found among the process's descriptors, so the threads that use them do nothing for it.
//! A descriptor may be closed and used again between two calls: then a value is of another socket, or
//! there is none. Nothing is changed by asking.

use std::os::fd::RawFd;
use std::time::Duration;

/// A connected socket of this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TcpSocket {
    /// Its descriptor.
    pub descriptor: RawFd,
    /// The port of this end, which tells it from those that had its descriptor before.
    pub local_port: u16,
}

/// What is known of the way to a socket's peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TcpInfo {
    /// The smoothed time from sending bytes to their acknowledgement, which may come with a reply.
    pub rtt: Duration,
    /// The shortest of the last minutes (`net.ipv4.tcp_min_rtt_wlen`), where the kernel keeps it.
    pub min_rtt: Option<Duration>,
    /// Segments that were sent again since the connection was opened.
    pub retransmits: u32,
    /// Bytes that the peer has acknowledged since then, where the kernel keeps them.
    pub sent: Option<u64>,
    /// Bytes that have come from it.
    pub received: Option<u64>,
}

/// This process's sockets that are connected to one of these ports.
#[cfg(target_os = "linux")]
pub fn tcp_sockets(ports: &[u16]) -> Vec<TcpSocket> {
    let entries = std::fs::read_dir("/proc/self/fd").into_iter().flatten();
    let descriptors = entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    descriptors
        .filter_map(|descriptor| tcp_socket(descriptor, ports))
        .collect()
}

/// The socket that has this descriptor now, if it is connected to one of these ports.
#[cfg(target_os = "linux")]
pub fn tcp_socket(descriptor: RawFd, ports: &[u16]) -> Option<TcpSocket> {
    use nix::sys::socket::{SockaddrIn, SockaddrIn6, SockaddrStorage, getpeername, getsockname};
    let port = |address: SockaddrStorage| {
        let (v4, v6) = (address.as_sockaddr_in(), address.as_sockaddr_in6());
        v4.map(SockaddrIn::port).or(v6.map(SockaddrIn6::port))
    };
    let peer = port(getpeername(descriptor).ok()?)?;
    let is_wanted = ports.contains(&peer);
    let local_port = is_wanted.then(|| port(getsockname(descriptor).ok()?))??;
    Some(TcpSocket {
        descriptor,
        local_port,
    })
}

/// Where fields of `struct tcp_info` begin (linux/tcp.h); the kernel fills in as many as it has.
#[cfg(target_os = "linux")]
mod at {
    pub const RTT: usize = 68;
    pub const TOTAL_RETRANS: usize = 100;
    pub const BYTES_ACKED: usize = 120;
    pub const BYTES_RECEIVED: usize = 128;
    pub const MIN_RTT: usize = 148;
}

/// What the kernel knows of a socket's way; `None` where it is no TCP socket.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
pub fn tcp_info(descriptor: RawFd) -> Option<TcpInfo> {
    let mut bytes = [0_u8; 256];
    let mut length = libc::socklen_t::try_from(bytes.len()).ok()?;
    // SAFETY: the pointer is to live bytes of the length that is given, of which the kernel fills no
    // more and says how many; a descriptor that is closed or no socket is an error.
    let result = unsafe {
        libc::getsockopt(
            descriptor,
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            bytes.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    let filled = bytes.get(..usize::try_from(length).ok()?)?;
    let number = |at: usize| {
        let bytes = filled.get(at..)?.first_chunk()?;
        Some(u32::from_ne_bytes(*bytes))
    };
    let total = |at: usize| {
        let bytes = filled.get(at..)?.first_chunk()?;
        Some(u64::from_ne_bytes(*bytes))
    };
    // No round trip yet: the kernel's unknown is the largest number.
    let time = |us: u32| (us != u32::MAX).then(|| Duration::from_micros(us.into()));
    (result == 0).then_some(())?;
    Some(TcpInfo {
        rtt: number(at::RTT).and_then(time)?,
        min_rtt: number(at::MIN_RTT).and_then(time),
        retransmits: number(at::TOTAL_RETRANS)?,
        sent: total(at::BYTES_ACKED),
        received: total(at::BYTES_RECEIVED),
    })
}

/// Other systems are not asked.
#[cfg(not(target_os = "linux"))]
pub fn tcp_sockets(_: &[u16]) -> Vec<TcpSocket> {
    Vec::new()
}

/// Other systems are not asked.
#[cfg(not(target_os = "linux"))]
pub fn tcp_socket(_: RawFd, _: &[u16]) -> Option<TcpSocket> {
    None
}

/// Other systems are not asked.
#[cfg(not(target_os = "linux"))]
pub fn tcp_info(_: RawFd) -> Option<TcpInfo> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn a_sockets_way_is_known_by_its_port() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let mut client = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        client.write_all(b"question").unwrap();
        server.read_exact(&mut [0; 8]).unwrap();
        server.write_all(b"answer").unwrap();
        client.read_exact(&mut [0; 6]).unwrap();
        let all = tcp_sockets(&[port]);
        let own = client.local_addr().unwrap().port();
        assert_eq!(all.iter().map(|s| s.local_port).collect::<Vec<_>>(), [own]);
        let info = tcp_info(all[0].descriptor).unwrap();
        assert!(
            !info.rtt.is_zero() && info.rtt < Duration::from_secs(1),
            "{info:?}"
        );
        assert!(info.min_rtt.unwrap() <= Duration::from_secs(1), "{info:?}");
        assert_eq!(info.retransmits, 0);
        // The kernel counts the opening as one.
        assert!(matches!(info.sent, Some(8 | 9)), "{info:?}");
        assert!(matches!(info.received, Some(6 | 7)), "{info:?}");
        drop(client);
        assert_eq!(tcp_socket(all[0].descriptor, &[port]), None);
    }

    #[test]
    fn what_is_no_tcp_socket_has_none() {
        assert_eq!(tcp_info(0), None);
        assert_eq!(tcp_info(-1), None);
        assert!(tcp_sockets(&[1]).is_empty());
    }
}
