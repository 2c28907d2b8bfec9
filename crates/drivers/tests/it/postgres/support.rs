//! What the tests share.

use std::future::Future;
use std::time::Duration;
use tidemark_core::{DbError, PreparedMode, Target};
use tidemark_drivers::{ConnectOptions, Connector, RowSource, RowWriter, Session};

/// Runs a test's future to its end.
pub fn run<T: 'static>(future: impl Future<Output = T> + 'static) -> T {
    tidemark_runtime::block_on(future).unwrap()
}

/// Where sessions of `url` are opened.
pub fn connector(url: &str, prepared: PreparedMode) -> Connector {
    let options = ConnectOptions {
        prepared,
        // Machines that run tests are busy.
        connect_timeout: Duration::from_secs(60),
        ..ConnectOptions::default()
    };
    Connector::new(Target::parse(url).unwrap(), options).unwrap()
}

/// One session, or why there is none.
pub async fn try_connect(url: &str) -> Result<Session, DbError> {
    let target = Target::parse(url).unwrap();
    Connector::new(target, ConnectOptions::default())?
        .connect(0)
        .await
}

/// One session.
pub async fn connect(url: &str) -> Session {
    try_connect(url).await.unwrap()
}

/// Rows made by a closure, which is told the row's number; none ends them.
pub struct Rows<F> {
    pub made: u64,
    pub make: F,
}

pub fn rows<F: FnMut(u64, &mut RowWriter<'_>) -> bool>(make: F) -> Rows<F> {
    Rows { made: 0, make }
}

impl<F: FnMut(u64, &mut RowWriter<'_>) -> bool> RowSource for Rows<F> {
    fn next_row(&mut self, row: &mut RowWriter<'_>) -> bool {
        let more = (self.make)(self.made, row);
        self.made += u64::from(more);
        more
    }
}
