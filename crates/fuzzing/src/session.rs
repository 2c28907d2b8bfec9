//! Whole sessions against a server that plays a script.

use crate::memory::bounded;
use crate::player::Player;
use crate::programs;
use crate::script::{Flags, FuzzScript};
use std::cell::RefCell;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;
use tidemark_core::{DbError, ErrorClass, Host, PreparedMode, Protocol, Secret, Target};
use tidemark_drivers::{ConnectOptions, fuzzing};
use tidemark_runtime::{Executor, Stream, timeout, yield_now};

/// Account, password and database of the recorded sessions' accounts, whose proofs they hold.
pub const USER: &str = "sbtest";
/// Longest session; the server is never waited for.
const LONGEST: Duration = Duration::from_secs(4);
/// Rows of many NULLs take the most: a bit on the wire, 24 bytes in memory, in a buffer that doubles.
const A_BYTE: usize = 1024;

/// How a session went.
#[derive(Debug)]
pub struct EndedSession {
    /// Why it was not opened; otherwise what each step came to.
    pub steps: Result<Vec<Result<(), DbError>>, DbError>,
    /// What the server heard.
    pub heard: Vec<u8>,
}

pub(crate) fn mysql(data: &[u8]) {
    check(Protocol::Mysql, data);
}

pub(crate) fn postgres(data: &[u8]) {
    check(Protocol::Postgres, data);
}

fn check(protocol: Protocol, data: &[u8]) {
    let script = FuzzScript::read(data);
    let on_network = script.flags.on_network();
    let secret = PASSWORD.as_bytes();
    let holds = |bytes: &[u8]| bytes.windows(secret.len()).any(|w| w == secret);
    let ended = bounded(data.len(), A_BYTE, || play(protocol, script));
    if let Err(e) = &ended.steps {
        assert_eq!(e.class, ErrorClass::Refused, "{e}");
    }
    // MySQL's protocol trusts whoever listens at a Unix socket.
    if on_network || protocol == Protocol::Postgres {
        assert!(!holds(&ended.heard), "the server was told the password");
    }
    if !holds(data) {
        let words = format!("{:?}", ended.steps);
        assert!(!words.contains(PASSWORD), "{words}");
    }
}

/// Long enough not to come about by chance.
const PASSWORD: &str = "a password nobody must hear";

/// Plays a script against a client that opens a session and runs the script's program.
///
/// # Panics
/// When it has no end.
pub fn play(protocol: Protocol, script: FuzzScript) -> EndedSession {
    thread_local! {
        static EXECUTOR: RefCell<Executor> = RefCell::new(Executor::new().unwrap());
        static LISTENER: Rc<(UnixListener, PathBuf)> = Rc::new(listen());
    }
    let listener = LISTENER.with(Rc::clone);
    let flags = script.flags;
    let player = Rc::new(RefCell::new(Player::new(protocol, script)));
    let ended = Rc::new(RefCell::new(None));
    EXECUTOR.with_borrow_mut(|executor| {
        let path = listener.1.clone();
        let end = Rc::clone(&ended);
        executor.spawn(async move {
            let done = timeout(LONGEST, client(protocol, flags, &path)).await;
            *end.borrow_mut() = Some(done);
        });
        let (server, end) = (Rc::clone(&player), Rc::clone(&ended));
        executor.spawn(async move {
            while end.borrow().is_none() {
                server.borrow_mut().step(&listener.0);
                yield_now().await;
            }
        });
        executor.run().unwrap();
    });
    let ended = ended.take().unwrap();
    EndedSession {
        steps: ended.expect("a session that comes to an end"),
        heard: std::mem::take(&mut player.borrow_mut().heard),
    }
}

async fn client(
    protocol: Protocol,
    flags: Flags,
    path: &Path,
) -> Result<Vec<Result<(), DbError>>, DbError> {
    let host = match flags.on_network() {
        true => Host::Tcp {
            host: "db".into(),
            port: 1,
        },
        false => Host::Unix(path.into()),
    };
    let options = ConnectOptions {
        prepared: match flags.as_text() {
            true => PreparedMode::Text,
            false => PreparedMode::Server,
        },
        statement_timeout: Some(LONGEST),
        ..ConnectOptions::default()
    };
    let stream = Stream::connect_unix(path).await.unwrap();
    let mut session = fuzzing::open(stream, &host, &target(protocol), &options).await?;
    let steps = programs::run(flags.program(), &mut session).await;
    session.close().await;
    Ok(steps)
}

fn target(protocol: Protocol) -> Target {
    Target {
        protocol,
        user: USER.into(),
        password: Secret::new(PASSWORD),
        ..Target::sqlite(USER)
    }
}

fn listen() -> (UnixListener, PathBuf) {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name = format!("tidemark-fuzz-{}-{number}.sock", std::process::id());
    let path = std::env::temp_dir().join(name);
    let _ = std::fs::remove_file(&path);
    let listener = UnixListener::bind(&path).unwrap();
    listener.set_nonblocking(true).unwrap();
    (listener, path)
}
