//! Executor threads: tasks, sockets and timers over one poller a core.
//!
//! A load generator lives of what it does not do. One [`Executor`] a core polls thousands of
//! sessions, each a future that is polled when its socket is ready or its timer is due:
//!
//! - no work is stolen and nothing is locked: a task stays on its executor;
//! - bytes are received into one buffer that all sessions of an executor share
//!   ([`Stream::receive`]), so that an idle session holds no buffer of its own;
//! - a reply is awaited without a read that would only find nothing.
//!
//! Readiness is edge-triggered (epoll(7), "Edge-triggered and level-triggered").
//!
//! ```
//! use std::time::Duration;
//! use tidemark_runtime::{block_on, sleep, timeout};
//! let late = block_on(timeout(Duration::from_millis(5), sleep(Duration::from_secs(60))))?;
//! assert!(late.is_err());
//! # Ok::<(), std::io::Error>(())
//! ```

mod alarm;
pub mod arrival;
mod busy_poll;
#[cfg(target_os = "linux")]
mod direct;
mod executor;
mod footprint;
mod limits;
mod low_watermark;
mod parking;
mod reactor;
mod scheduling;
mod sleepers;
mod socket;
mod stream;
mod stream_limits;
mod tcp_info;
mod time;
mod tls;

pub use busy_poll::{BusyPoll, busy_polled};
pub use executor::{Executor, Remote, block_on, spawn, yield_now};
pub use footprint::{forget_program_text, share_one_heap};
pub use limits::{allowed_cores, is_short_of_cpu, raise_open_files};
pub use parking::Parking;
pub use reactor::remote_signal;
pub use scheduling::{
    current_core, do_not_preempt, process_cpu_time, take_short_turns, thread_run_delay,
};
pub use sleepers::{Sleepers, Woken};
pub use stream::{Received, Sent, Stream, Wait};
pub use tcp_info::{TcpInfo, TcpSocket, tcp_info, tcp_socket, tcp_sockets};
pub use time::{Elapsed, Sleep, sleep, sleep_unless, sleep_until, timeout, unless};
