//! Private servers: a MariaDB or PostgreSQL of one's own, made of the programs on the machine, in a
//! folder of its own, at a free port of 127.0.0.1 and at a Unix socket.
//!
//! A sandbox outlives the process that starts it, when that says so ([`Running::keep`]); it is then
//! found by its name in the user's [`Home`] of sandboxes:
//!
//! ```no_run
//! use tidemark_sandbox::{Home, SandboxRequest};
//! # fn f() -> Result<(), tidemark_sandbox::Error> {
//! let home = Home::at("/home/me/.local/share/tidemark/sandboxes".as_ref());
//! let request = SandboxRequest::parse("up:mariadb?innodb_flush_log_at_trx_commit=1")?;
//! let running = home.start(&request)?;
//! println!("{}", running.url()); // mysql://tidemark:…@127.0.0.1:PORT/tidemark
//! drop(running); // ends the server and removes its files
//! # Ok(())
//! # }
//! ```
//!
//! Nothing of the machine's own servers is touched: no configuration of theirs is read, no folder
//! with something in it is used, and only what a sandbox made is ended and removed
//! ([`Home::down`]).
//!
//! What makes a server of programs ([`ServerFiles`], [`Superuser`]) is there for tests' servers too.

#[cfg(test)]
extern crate self as tidemark_sandbox;
#[cfg(test)]
#[path = "../tests/it/mod.rs"]
mod it;

mod error;
mod folder;
mod holder;
mod home;
mod identity;
mod mariadb;
mod marker;
mod ownership;
mod postgres;
mod programs;
mod ready;
mod request;
mod running;
mod server_files;
mod stop;

pub use error::Error;
pub use holder::{Hold, Holder};
pub use home::{Home, Sandbox, SandboxState, StartStep};
pub use mariadb::SETTINGS_OF_THE_FILES;
pub use postgres::remove_shared_memory;
pub use programs::{Account, SandboxEngine, command, find};
pub use request::SandboxRequest;
pub use running::Running;
pub use server_files::{ServerFiles, Superuser, free_port};
pub use stop::Removed;
