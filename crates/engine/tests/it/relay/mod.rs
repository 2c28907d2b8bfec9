//! What stands between a client and its server, and hears what is sent.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tidemark_core::Host;

/// Hears each request; true hangs up, when the server has answered it and the client has not heard.
type Hears = dyn Fn(&[u8]) -> bool + Send + Sync;

/// A relay before a server, for as long as the process lives.
pub struct Relay;

impl Relay {
    /// Where clients are to go instead of to the server.
    pub fn before(server: &Host, hears: impl Fn(&[u8]) -> bool + Send + Sync + 'static) -> Host {
        let Host::Tcp { host, port } = server else {
            panic!("{server} is no TCP address");
        };
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mine = listener.local_addr().unwrap().port();
        let (server, hears) = ((host.clone(), *port), Arc::new(hears));
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let client = client.unwrap();
                let server = TcpStream::connect(&server).unwrap();
                for stream in [&client, &server] {
                    stream.set_nodelay(true).unwrap();
                }
                let hears = Arc::clone(&hears);
                std::thread::spawn(move || relay(client, server, &*hears));
            }
        });
        Host::Tcp {
            host: "127.0.0.1".into(),
            port: mine,
        }
    }
}

/// Whether a request holds a word.
pub fn has(sent: &[u8], word: &str) -> bool {
    sent.windows(word.len()).any(|part| part == word.as_bytes())
}

/// A request at a time, as sessions send them.
fn relay(mut client: TcpStream, mut server: TcpStream, hears: &Hears) {
    let (mut back, mut answers) = (client.try_clone().unwrap(), server.try_clone().unwrap());
    let silent = Arc::new(AtomicBool::new(false));
    let is_silent = Arc::clone(&silent);
    let answering = std::thread::spawn(move || {
        let mut buffer = [0; 65536];
        while let Ok(read @ 1..) = answers.read(&mut buffer) {
            if is_silent.load(Ordering::Acquire) || back.write_all(&buffer[..read]).is_err() {
                break;
            }
        }
        // The other side may have closed already.
        let _ = back.shutdown(Shutdown::Both);
    });
    let mut buffer = [0; 65536];
    while let Ok(read @ 1..) = client.read(&mut buffer) {
        let sent = &buffer[..read];
        if hears(sent) {
            silent.store(true, Ordering::Release);
        }
        if server.write_all(sent).is_err() {
            break;
        }
    }
    let _ = server.shutdown(Shutdown::Write);
    let _ = answering.join();
}
