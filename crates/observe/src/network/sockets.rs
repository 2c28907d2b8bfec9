//! The sockets of the run's sessions, a few at a time.

use std::collections::{HashMap, HashSet};
use std::time::Duration;
use tidemark_runtime::{TcpSocket, tcp_info, tcp_socket, tcp_sockets};

/// So many are looked at in a second, in turns: each takes three system calls.
const MOST_AT_ONCE: usize = 256;
/// The process's descriptors are gone through once in so many looks, and when one of them was closed.
const LIST_EVERY: u32 = 10;
/// What a socket counted since the last look is lost when it closes: where that is more than one byte in
/// so many, bytes are not told.
const LOST_OF: u64 = 10;

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
    /// Bytes since then; `None` until each socket was looked at once, and while too many of them were lost
    /// with sockets that closed.
    pub bytes: Option<Bytes>,
}

/// Bytes that went over sockets.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bytes {
    pub sent: u64,
    pub received: u64,
}

impl Bytes {
    fn both(self) -> u64 {
        self.sent.saturating_add(self.received)
    }
}

/// What a socket had counted when it was looked at last.
#[derive(Debug, Clone, Copy)]
struct Counted {
    retransmits: u32,
    bytes: Option<Bytes>,
    /// By how many bytes it grew at that look, of a new one all that it had: about what is lost when it
    /// closes before the next look.
    grown: u64,
}

/// Sockets to the target.
pub(super) struct Sockets {
    /// Ports of its hosts.
    ports: Vec<u16>,
    listed: Vec<TcpSocket>,
    looks: u32,
    /// The one that is looked at next.
    next: usize,
    /// So many are looked at at once.
    at_once: usize,
    /// How often one was looked at, of all of them.
    single_looks: usize,
    known: HashMap<TcpSocket, Counted>,
    retransmits: u64,
    bytes: Option<Bytes>,
    /// About how many bytes more went over sockets that closed.
    lost: u64,
}

impl Sockets {
    pub fn new(ports: Vec<u16>) -> Self {
        Self {
            ports,
            listed: Vec::new(),
            looks: 0,
            next: 0,
            at_once: MOST_AT_ONCE,
            single_looks: 0,
            known: HashMap::new(),
            retransmits: 0,
            bytes: Some(Bytes::default()),
            lost: 0,
        }
    }

    fn list(&mut self) {
        self.listed = tcp_sockets(&self.ports);
        let listed: HashSet<TcpSocket> = self.listed.iter().copied().collect();
        let closed = self.known.extract_if(|socket, _| !listed.contains(socket));
        self.lost += closed.map(|(_, counted)| counted.grown).sum::<u64>();
        self.looks = 0;
    }

    /// Looks at those whose ports are not `aside`.
    pub fn look(&mut self, aside: &[u16]) -> SocketTimes {
        let mut seen = SocketTimes::default();
        if self.looks.is_multiple_of(LIST_EVERY) {
            self.list();
        }
        self.looks += 1;
        let at_once = self.listed.len().min(self.at_once);
        self.single_looks = self.single_looks.saturating_add(at_once);
        for _ in 0..at_once {
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
                self.lost += self
                    .known
                    .remove(&socket)
                    .map_or(0, |counted| counted.grown);
                continue;
            };
            let bytes = info.sent.zip(info.received);
            let bytes = bytes.map(|(sent, received)| Bytes { sent, received });
            let retransmits = info.retransmits;
            // A socket's first look tells what was counted before the load.
            let before = self.known.get(&socket).copied();
            let all = bytes.map_or(0, Bytes::both);
            let all_before = before
                .and_then(|before| before.bytes)
                .map_or(0, Bytes::both);
            let grown = all.saturating_sub(all_before);
            let now = Counted {
                retransmits,
                bytes,
                grown,
            };
            self.known.insert(socket, now);
            if let Some(before) = before {
                let again = retransmits.saturating_sub(before.retransmits);
                self.retransmits += u64::from(again);
                self.bytes = self.bytes.zip(before.bytes).zip(bytes).map(grown_by);
            }
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
        let lost = self.lost.saturating_mul(LOST_OF);
        // Of many, some have their first look late: what they carried before it is in no total.
        let is_of_all = self.single_looks >= self.listed.len();
        seen.bytes = self.bytes.filter(|all| is_of_all && lost <= all.both());
        seen
    }
}

/// All bytes so far, with what a socket has counted between two looks.
fn grown_by(((all, before), now): ((Bytes, Bytes), Bytes)) -> Bytes {
    Bytes {
        sent: all.sent + now.sent.saturating_sub(before.sent),
        received: all.received + now.received.saturating_sub(before.received),
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

    #[test]
    fn bytes_of_many_sockets_are_told_when_each_was_looked_at() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let mut pairs: Vec<_> = (0..3)
            .map(|_| {
                let client = TcpStream::connect(("127.0.0.1", port)).unwrap();
                (client, listener.accept().unwrap().0)
            })
            .collect();
        let mut answer = || {
            for (client, server) in &mut pairs {
                server.write_all(&[1; 1000]).unwrap();
                client.read_exact(&mut [0; 1000]).unwrap();
            }
        };
        let mut sockets = Sockets::new(vec![port]);
        sockets.at_once = 2;
        assert_eq!(sockets.look(&[]).bytes, None);
        answer();
        let mut told = || sockets.look(&[]).bytes.unwrap().received;
        // From here on each look has what came since the last one of the same sockets.
        assert_eq!(told(), 1000);
        answer();
        assert_eq!(told(), 4000);
    }

    #[test]
    fn bytes_are_of_these_sockets_alone_until_they_close() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let mut client = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        let mut talk = |question: usize, answer: usize| {
            client.write_all(&vec![1; question]).unwrap();
            server.read_exact(&mut vec![0; question]).unwrap();
            server.write_all(&vec![1; answer]).unwrap();
            client.read_exact(&mut vec![0; answer]).unwrap();
        };
        // What was sent before the first look is not the load's.
        talk(500, 700);
        let mut sockets = Sockets::new(vec![port]);
        assert_eq!(sockets.look(&[]).bytes, Some(Bytes::default()));
        // Another program's traffic over loopback.
        let others = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut other = TcpStream::connect(others.local_addr().unwrap()).unwrap();
        other.write_all(&[1; 9000]).unwrap();
        talk(30, 4000);
        let (sent, received) = (30, 4000);
        assert_eq!(sockets.look(&[]).bytes, Some(Bytes { sent, received }));
        // One that closes with little takes little away, and one that carried all of it, all.
        let other = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let (mut peer, _) = listener.accept().unwrap();
        peer.write_all(&[1; 40]).unwrap();
        sockets.looks = 0;
        assert!(sockets.look(&[]).bytes.is_some());
        drop(other);
        talk(300, 4000);
        let bytes = sockets.look(&[]).bytes;
        let (sent, received) = (330, 8000);
        assert_eq!(bytes, Some(Bytes { sent, received }));
        drop(client);
        assert_eq!(sockets.look(&[]).bytes, None);
    }
}
