//! The clients of a run that several make, as they are now.

/// How far a client is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ClientStage {
    /// Its sessions are not open yet.
    #[default]
    Preparing,
    /// It makes load.
    Running,
    /// It has ended as it was to.
    Ended,
    /// It ended with an error.
    Failed,
    /// Nobody hears it any more.
    Lost,
}

/// One of several clients, by its last interval.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ClientNow {
    /// What it is called by.
    pub name: String,
    /// Transactions a second.
    pub rate: f64,
    /// What 95 % of them took at most, in nanoseconds; none where nothing ended.
    pub p95_ns: Option<u64>,
    /// Processors that its load used.
    pub cpus: Option<f64>,
    /// Share of its host's processors that was busy, 0 to 1.
    pub host_busy: Option<f64>,
    /// How far its clock may be from where it is taken to be, in milliseconds.
    pub clock_error_ms: f64,
    /// How far it is.
    pub stage: ClientStage,
}

impl ClientNow {
    /// Whether it ended otherwise than it was to.
    pub(crate) fn is_gone(&self) -> bool {
        matches!(self.stage, ClientStage::Failed | ClientStage::Lost)
    }
}

/// Those that are shown where there is room for so many, and the others. Of too many those are shown that
/// are gone, and then the slowest.
pub(crate) fn shown(clients: &[ClientNow], most: usize) -> (Vec<&ClientNow>, Vec<&ClientNow>) {
    let mut shown: Vec<&ClientNow> = clients.iter().collect();
    if shown.len() > most {
        shown.sort_by(|a, b| {
            let gone = b.is_gone().cmp(&a.is_gone());
            gone.then(a.rate.total_cmp(&b.rate))
        });
    }
    let rest = shown.split_off(most.min(shown.len()));
    (shown, rest)
}
