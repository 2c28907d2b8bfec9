//! How far away a database is: a statement that does nothing, while nothing else is asked.

use std::time::{Duration, Instant};
use tidemark_core::DbError;
use tidemark_drivers::Connector;
use tidemark_runtime::block_on;

/// So many are sent, unless they take longer than a second together.
const PINGS: usize = 50;
const LONGEST: Duration = Duration::from_secs(1);

/// The median in milliseconds; `None` where it can't be had.
pub fn ping_ms(connector: Connector) -> Option<f64> {
    let asked = async move {
        let mut session = connector.connect(0).await?;
        let begun = Instant::now();
        let mut times = Vec::with_capacity(PINGS);
        while times.len() < PINGS && (times.len() < 3 || begun.elapsed() < LONGEST) {
            let sent = Instant::now();
            session.simple("SELECT 1").await?;
            times.push(sent.elapsed());
        }
        session.close().await;
        Ok::<_, DbError>(times)
    };
    let mut times = block_on(asked).ok()?.ok()?;
    times.sort();
    let middle = times.get(times.len() / 2)?;
    Some(middle.as_secs_f64() * 1000.0)
}
