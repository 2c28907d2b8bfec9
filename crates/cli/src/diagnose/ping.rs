//! How far away a database is: a statement that does nothing, while nothing else is asked.

use std::time::{Duration, Instant};
use tidemark_core::{DbError, ErrorClass};
use tidemark_drivers::Connector;
use tidemark_runtime::block_on;

/// So many are sent, unless they take longer than a second together.
const PINGS: usize = 50;
const LONGEST: Duration = Duration::from_secs(1);

/// The median in milliseconds; `None` where it can't be had.
pub fn ping_ms(connector: Connector) -> Option<f64> {
    let times = pings(connector, PINGS, LONGEST).ok()?;
    let middle = times.get(times.len() / 2)?;
    Some(middle.as_secs_f64() * 1000.0)
}

/// How long each of so many took, the quickest first; fewer where they take longer than `longest`
/// together.
///
/// # Errors
/// The server's, or that no session could be opened.
pub fn pings(
    connector: Connector,
    count: usize,
    longest: Duration,
) -> Result<Vec<Duration>, DbError> {
    let asked = async move {
        let mut session = connector.connect(0).await?;
        // What the first needs may be in no cache yet.
        session.simple("SELECT 1").await?;
        let begun = Instant::now();
        let mut times = Vec::with_capacity(count);
        while times.len() < count && (times.len() < 3 || begun.elapsed() < longest) {
            let sent = Instant::now();
            session.simple("SELECT 1").await?;
            times.push(sent.elapsed());
        }
        session.close().await;
        Ok::<_, DbError>(times)
    };
    let asked = block_on(asked);
    let no_executor = |e: std::io::Error| DbError::new(ErrorClass::Fatal, "io", e.to_string());
    let mut times = asked.map_err(no_executor)??;
    times.sort();
    Ok(times)
}
