//! A nats-server of a test's own, that can be killed and started again.

use crate::{NatsOptions, find_server};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;
use tidemark_process::{Signal, kill_and_reap, signal, wait_until};

/// A server with JetStream at a port of its own.
pub struct Server {
    child: Child,
    port: u16,
    folder: TempDir,
}

impl Server {
    pub fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        // Taken anew if another process is quicker.
        for _ in 0..20 {
            let port = tidemark_sandbox::free_port().unwrap();
            let mut child = spawn(port, folder.path());
            if is_up(&mut child, port) {
                return Self {
                    child,
                    port,
                    folder,
                };
            }
            kill_and_reap(&mut child);
        }
        panic!("nats-server does not start");
    }

    pub fn nats(&self) -> NatsOptions {
        let url = format!("nats://127.0.0.1:{}", self.port);
        NatsOptions {
            url,
            ..NatsOptions::default()
        }
    }

    /// Ends it at once, as a power cut does to a process.
    pub fn kill(&mut self) {
        kill_and_reap(&mut self.child);
    }

    /// Starts it again, with the files that it left.
    pub fn again(&mut self) {
        self.child = spawn(self.port, self.folder.path());
        assert!(is_up(&mut self.child, self.port), "it does not start again");
    }

    pub fn stop(&self) {
        signal(Signal::SIGSTOP, &[self.child.id()]);
    }

    pub fn go_on(&self) {
        signal(Signal::SIGCONT, &[self.child.id()]);
    }
}

fn spawn(port: u16, folder: &std::path::Path) -> Child {
    Command::new(find_server().expect("nats-server is installed"))
        .args(["--addr", "127.0.0.1", "--port", &port.to_string()])
        .args(["--jetstream", "--store_dir"])
        .arg(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn is_up(child: &mut Child, port: u16) -> bool {
    let mut up = false;
    wait_until(super::LONGEST, || {
        up = std::net::TcpStream::connect(("127.0.0.1", port)).is_ok();
        up || child.try_wait().is_ok_and(|ended| ended.is_some())
    });
    up
}

impl Drop for Server {
    fn drop(&mut self) {
        kill_and_reap(&mut self.child);
    }
}
