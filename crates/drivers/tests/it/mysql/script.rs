//! A server that follows a script: the packets are written here by hand, after the protocol's
//! documentation (dev.mysql.com, "MySQL Client/Server Protocol"), not by the driver's own code.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;
use std::time::Duration;

/// What a MySQL 8 server announces, but for TLS: `CLIENT_PROTOCOL_41`, `CLIENT_PLUGIN_AUTH`,
/// `CLIENT_LOCAL_FILES` and others.
pub const CAPABILITIES: u32 = 0x013F_F7DF & !SSL & !COMPRESS;
pub const SSL: u32 = 0x0800;
const COMPRESS: u32 = 0x20;
pub const DEPRECATE_EOF: u32 = 0x0100_0000;
pub const NONCE: &[u8; 20] = b"abcdefgh12345678ijkl";

/// One client, as the server sees it.
pub struct Peer<S> {
    pub stream: S,
    /// Number of the next packet.
    pub sequence: u8,
}

/// Follows a script with one client. Returns the port, and the thread to join: a script that fails
/// panics there.
pub fn serve(script: impl FnOnce(Peer<TcpStream>) + Send + 'static) -> (u16, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let thread = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        stream.set_nodelay(true).unwrap();
        let limit = Some(Duration::from_secs(20));
        stream.set_read_timeout(limit).unwrap();
        stream.set_write_timeout(limit).unwrap();
        script(Peer::new(stream));
    });
    (port, thread)
}

impl<S: Read + Write> Peer<S> {
    pub fn new(stream: S) -> Self {
        Self {
            stream,
            sequence: 0,
        }
    }

    /// The next packet's payload.
    pub fn receive(&mut self) -> Vec<u8> {
        let mut header = [0; 4];
        self.stream.read_exact(&mut header).unwrap();
        let [a, b, c, sequence] = header;
        let mut payload = vec![0; u32::from_le_bytes([a, b, c, 0]) as usize];
        self.stream.read_exact(&mut payload).unwrap();
        self.sequence = sequence.wrapping_add(1);
        payload
    }

    /// Sends packets in one piece.
    pub fn send(&mut self, payloads: &[&[u8]]) {
        let mut bytes = Vec::new();
        for payload in payloads {
            bytes.extend_from_slice(&(payload.len() as u32).to_le_bytes()[..3]);
            bytes.push(self.sequence);
            bytes.extend_from_slice(payload);
            self.sequence = self.sequence.wrapping_add(1);
        }
        match self.stream.write_all(&bytes) {
            // A client that has heard enough hangs up.
            Err(e) if matches!(e.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) => {}
            sent => sent.unwrap(),
        }
    }

    /// Expects a COM_QUERY and returns its text; an empty text for COM_QUIT.
    pub fn query(&mut self) -> String {
        let command = self.receive();
        match command[0] {
            0x03 => String::from_utf8(command[1..].to_vec()).unwrap(),
            0x01 => String::new(),
            other => panic!("command {other:#x}"),
        }
    }

    /// Expects that the client says no more.
    pub fn expect_end(&mut self) {
        let mut rest = Vec::new();
        // A client that closes with bytes unread resets the connection.
        let _ = self.stream.read_to_end(&mut rest);
        assert_eq!(rest, b"");
    }

    /// Greets, takes the client's answer and lets it in, whatever it says.
    pub fn let_in(&mut self, capabilities: u32) {
        self.send(&[&greeting(capabilities, "mysql_native_password")]);
        self.receive();
        self.send(&[OK]);
        self.has_the_defaults();
    }

    /// Is asked for what changes values as they are read back, and can't tell.
    pub fn has_the_defaults(&mut self) {
        let asked = self.query();
        assert!(asked.starts_with("SELECT @@SESSION."), "{asked}");
        self.send(&[&error(1193, "HY000", "Unknown system variable")]);
    }
}

/// OK: nothing affected, autocommit, no warnings.
pub const OK: &[u8] = &[0, 0, 0, 2, 0, 0, 0];

/// "Protocol::HandshakeV10".
pub fn greeting(capabilities: u32, plugin: &str) -> Vec<u8> {
    let mut g = b"\x0a8.4.3\0\x07\0\0\0".to_vec();
    g.extend_from_slice(&NONCE[..8]);
    g.push(0);
    g.extend_from_slice(&capabilities.to_le_bytes()[..2]);
    g.extend_from_slice(&[0xFF, 2, 0]);
    g.extend_from_slice(&capabilities.to_le_bytes()[2..]);
    g.push(21);
    g.extend_from_slice(&[0; 10]);
    g.extend_from_slice(&NONCE[8..]);
    g.push(0);
    g.extend_from_slice(plugin.as_bytes());
    g.push(0);
    g
}

/// "Protocol::ColumnDefinition41" of a VAR_STRING.
pub fn column() -> Vec<u8> {
    let mut c = b"\x03def\0\0\0\x01c\x01c\x0c".to_vec();
    c.extend_from_slice(&[45, 0, 0, 1, 0, 0, 0xFD, 0, 0, 0, 0, 0]);
    c
}

/// "ERR_Packet".
pub fn error(number: u16, state: &str, message: &str) -> Vec<u8> {
    let mut e = vec![0xFF];
    e.extend_from_slice(&number.to_le_bytes());
    e.push(b'#');
    e.extend_from_slice(state.as_bytes());
    e.extend_from_slice(message.as_bytes());
    e
}

/// What a client answers to the greeting ("Protocol::HandshakeResponse41").
#[derive(Debug, PartialEq, Eq)]
pub struct Answer {
    pub user: String,
    pub proof: Vec<u8>,
    pub database: String,
    pub plugin: String,
}

impl Answer {
    pub fn read(payload: &[u8]) -> Self {
        let capabilities = u32::from_le_bytes(payload[..4].try_into().unwrap());
        assert_eq!(
            capabilities & 0x0020_0008,
            0x0020_0008,
            "length-encoded proof, database"
        );
        let mut rest = &payload[32..];
        let user = until_nul(&mut rest);
        let (proof, after) = rest[1..].split_at(usize::from(rest[0]));
        rest = after;
        Self {
            user,
            proof: proof.to_vec(),
            database: until_nul(&mut rest),
            plugin: until_nul(&mut rest),
        }
    }
}

fn until_nul(bytes: &mut &[u8]) -> String {
    let end = bytes.iter().position(|&b| b == 0).unwrap();
    let text = String::from_utf8(bytes[..end].to_vec()).unwrap();
    *bytes = &bytes[end + 1..];
    text
}
