//! The sockets of the run's sessions, a few at a time.

use std::collections::HashMap;
use std::time::Duration;
use tidemark_runtime::{TcpSocket, tcp_info, tcp_socket, tcp_sockets};

/// So many are looked at in a second, in turns: each takes three system calls.
const MOST_AT_ONCE: usize = 256;
/// The process's descriptors are gone through once in so many looks, and when one of them was closed.
const LIST_EVERY: u32 = 10;

/// What one look saw.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct SocketTimes {
    pub sockets: u32,
    /// Of their smoothed round trips.
    pub sum: Duration,
    pub least: Duration,
    pub most: Duration,
    /// The shortest round trip that the kernel keeps of any.
    pub shortest: Option<Duration>,
    /// Segments that were sent again since the first look.
    pub retransmits: u64,
}

/// Sockets to the target.
pub(super) struct Sockets {
    /// Ports of its hosts.
    ports: Vec<u16>,
    listed: Vec<TcpSocket>,
    looks: u32,
    /// The one that is looked at next.
    next: usize,
    /// What each had sent again when it was looked at last.
    known: HashMap<TcpSocket, u32>,
    retransmits: u64,
}

impl Sockets {
    pub fn new(ports: Vec<u16>) -> Self {
        Self {
            ports,
            listed: Vec::new(),
            looks: 0,
            next: 0,
            known: HashMap::new(),
            retransmits: 0,
        }
    }

    fn list(&mut self) {
        self.listed = tcp_sockets(&self.ports);
        let listed = &self.listed;
        self.known.retain(|socket, _| listed.contains(socket));
        self.looks = 0;
    }

    /// Looks at those whose ports are not `aside`.
    pub fn look(&mut self, aside: &[u16]) -> SocketTimes {
        if self.looks.is_multiple_of(LIST_EVERY) {
            self.list();
        }
        self.looks += 1;
        let mut seen = SocketTimes::default();
        for _ in 0..self.listed.len().min(MOST_AT_ONCE) {
            self.next = (self.next + 1) % self.listed.len();
            let Some(socket) = self.listed.get(self.next).copied() else {
                break;
            };
            if aside.contains(&socket.local_port) {
                continue;
            }
            let is_same = tcp_socket(socket.descriptor, &self.ports) == Some(socket);
            let Some(info) = is_same.then(|| tcp_info(socket.descriptor)).flatten() else {
                // It was closed, and another may have taken its place.
                self.looks = 0;
                continue;
            };
            // A socket's first look tells what was sent again before the load.
            let before = self.known.insert(socket, info.retransmits);
            let grown = before.map_or(0, |before| info.retransmits.saturating_sub(before));
            self.retransmits += u64::from(grown);
            seen.least = match seen.sockets {
                0 => info.rtt,
                _ => seen.least.min(info.rtt),
            };
            seen.sockets += 1;
            seen.sum += info.rtt;
            seen.most = seen.most.max(info.rtt);
            let shortest = seen.shortest.into_iter().chain(info.min_rtt);
            seen.shortest = shortest.min();
        }
        seen.retransmits = self.retransmits;
        seen
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn sockets_are_seen_until_they_close_and_those_aside_are_not() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let open = |text: &[u8]| {
            let mut client = TcpStream::connect(("127.0.0.1", port)).unwrap();
            let (mut server, _) = listener.accept().unwrap();
            client.write_all(text).unwrap();
            server.read_exact(&mut vec![0; text.len()]).unwrap();
            (client, server)
        };
        let (first, second) = (open(b"one"), open(b"two"));
        let mut sockets = Sockets::new(vec![port]);
        let seen = sockets.look(&[]);
        assert_eq!((seen.sockets, seen.retransmits), (2, 0));
        assert!(seen.least <= seen.most && seen.sum == seen.least + seen.most);
        assert!(
            seen.shortest.is_some_and(|shortest| !shortest.is_zero()),
            "{seen:?}"
        );
        let aside = second.0.local_addr().unwrap().port();
        assert_eq!(sockets.look(&[aside]).sockets, 1);
        drop(first);
        assert_eq!(sockets.look(&[]).sockets, 1);
        // One that was closed makes the next look go through the descriptors.
        let _third = open(b"three");
        assert_eq!(sockets.look(&[]).sockets, 2);
    }
}
