//! Whether a server takes sessions, asked where nobody but this server can answer: at its own
//! socket and in its own files. Its port may be somebody else's.

use crate::{SandboxEngine, ServerFiles, ownership};
use socket2::{Domain, SockAddr, Socket, Type};
use std::io::{ErrorKind, Read};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// One look at the server that was started as this process, without an account.
pub(crate) fn takes_sessions(place: &ServerFiles, pid: u32) -> bool {
    match place.engine {
        SandboxEngine::MariaDb => greets(place),
        SandboxEngine::Postgres => says_ready(place, pid),
    }
}

/// MariaDB speaks first: a packet that begins, after its header of four bytes, with the protocol's
/// version, 10, or with 255 for an error (MariaDB documentation, Connecting). Accounts are made
/// before it takes the first connection, and its port is its own before it has a socket.
fn greets(place: &ServerFiles) -> bool {
    const SOON: Duration = Duration::from_millis(500);
    let mut begin = [0u8; 5];
    UnixStream::connect(place.socket())
        .and_then(|mut stream| {
            stream.set_read_timeout(Some(SOON))?;
            stream.read_exact(&mut begin)
        })
        .is_ok_and(|()| begin[4] == 10)
}

/// The 8th line of `postmaster.pid` tells the state, which is what `pg_ctl -w` waits for, the first
/// one whose it is (PostgreSQL documentation, 73.1 Database File Layout, and `pg_ctl`).
fn says_ready(place: &ServerFiles, pid: u32) -> bool {
    ownership::text_of_server(&place.pid_file()).is_some_and(|text| {
        let line = |n: usize| text.lines().nth(n).map_or("", str::trim);
        line(0) == pid.to_string() && line(7) == "ready"
    })
}

/// Whether it is certain that no process listens at the server's socket, whatever container it is
/// in: the socket is not there, or what made it has ended.
pub(crate) fn nobody_listens(place: &ServerFiles) -> bool {
    let tried = Socket::new(Domain::UNIX, Type::STREAM, None).and_then(|socket| {
        // A server that is paused would keep a waiting caller for ever.
        socket.set_nonblocking(true)?;
        socket.connect(&SockAddr::unix(place.socket())?)
    });
    tried.is_err_and(|e| matches!(e.kind(), ErrorKind::ConnectionRefused | ErrorKind::NotFound))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Write;
    use std::net::TcpListener;
    use std::os::unix::net::UnixListener;
    use std::thread;

    const GREETING: [u8; 6] = [74, 0, 0, 0, 10, b'5'];

    fn place(folder: &std::path::Path, engine: SandboxEngine, port: u16) -> ServerFiles {
        ServerFiles {
            engine,
            account: None,
            folder: folder.into(),
            log: folder.join("log"),
            port,
            programs: None,
        }
    }

    #[test]
    fn who_greets_at_the_port_is_not_taken_for_the_server() {
        let dir = tempfile::tempdir().unwrap();
        let other = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let place = place(
            dir.path(),
            SandboxEngine::MariaDb,
            other.local_addr().unwrap().port(),
        );
        thread::spawn(move || {
            for mut caller in other.incoming().flatten() {
                let _ = caller.write_all(&GREETING);
            }
        });
        assert!(!takes_sessions(&place, 1));
        let own = UnixListener::bind(place.socket()).unwrap();
        thread::spawn(move || {
            let answers: [&[u8]; 2] = [&[9, 0, 0, 0, 255, 16], &GREETING];
            for (mut caller, answer) in own.incoming().flatten().zip(answers) {
                let _ = caller.write_all(answer);
            }
        });
        assert!(!takes_sessions(&place, 1), "it said an error");
        assert!(takes_sessions(&place, 1));
    }

    #[test]
    fn another_process_of_the_same_files_is_not_ready_for_it() {
        let dir = tempfile::tempdir().unwrap();
        let place = place(dir.path(), SandboxEngine::Postgres, 4711);
        fs::create_dir(place.data()).unwrap();
        let says = |state: &str| {
            let text = format!("77\n/d\n1\n4711\n/s\n127.0.0.1\n 1 2\n{state}  \n");
            fs::write(place.pid_file(), text).unwrap();
        };
        assert!(!takes_sessions(&place, 77));
        says("starting");
        assert!(!takes_sessions(&place, 77));
        says("ready");
        assert!(takes_sessions(&place, 77) && !takes_sessions(&place, 78));
    }

    #[test]
    fn a_socket_tells_whether_somebody_listens() {
        let dir = tempfile::tempdir().unwrap();
        let place = place(dir.path(), SandboxEngine::MariaDb, 1);
        assert!(nobody_listens(&place));
        let listener = UnixListener::bind(place.socket()).unwrap();
        assert!(!nobody_listens(&place));
        drop(listener);
        assert!(place.socket().exists() && nobody_listens(&place));
    }
}
