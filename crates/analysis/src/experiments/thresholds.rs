//! Limits of experiments, with their reasons.

/// Throughput rises by more than this, or it does not count: short runs of the same thing next to each
/// other differ by a few percent, and what moves less than a sixth is not what limits.
pub(super) const GAIN: f64 = 1.15;
/// Twice as many sessions raise a saturated server's throughput by up to a fifth: commits and system
/// calls come in larger groups.
pub(super) const SESSIONS_GAIN: f64 = 1.2;
/// A hundredth of the rows fits the processor's caches, too, and that alone gave up to a fifth on tables
/// wholly in memory.
pub(super) const CACHE_GAIN: f64 = 1.3;
/// Beyond this twice as many sessions find free CPU.
pub(super) const CPU_FREE: f64 = 1.5;

/// From this share of the latency on, round trips are what limits.
pub(super) const DISTANCE_SHARE: f64 = 0.4;
/// Below it they can't be.
pub(super) const DISTANCE_POSSIBLE: f64 = 0.2;
/// Milliseconds of a statement that does nothing, below which the database is not far: on one host it
/// takes 0.02 to 0.1, in one data centre 0.2 and more.
pub(super) const NEAR_MS: f64 = 0.2;
/// What it takes on one host: so much would be left of a distance that is taken away.
pub(super) const ON_HOST_MS: f64 = 0.05;
/// Replies come later by this share of what a round trip takes in all: if waiting is all that there is,
/// that costs 1 − 1/1.3, which is a quarter of the throughput …
pub(super) const LATER_SHARE: f64 = 0.3;
/// … and by no less than timers keep well …
pub(super) const SHORTEST_LATER_MS: f64 = 1.0;
/// … and no more than lets a run of a second have transactions.
pub(super) const LONGEST_LATER_MS: f64 = 200.0;
/// An experiment with a later reply tells something if waiting alone would cost so much of the
/// throughput …
pub(super) const RTT_POWER: f64 = 0.15;
/// … and is more than so many transactions of each session: a run cuts one off at either end, and of few
/// those may be all that is lost.
pub(super) const CUT_OFF: f64 = 2.0;
/// … and it says that something else is saturated if less than this share of the loss came.
pub(super) const RTT_MOVED: f64 = 0.5;

/// A client that takes this share of the CPU it may use is the limit: what is left is idle between
/// replies.
pub(super) const CLIENT_BUSY: f64 = 0.75;
/// Below it a client has CPU to spare.
pub(super) const CLIENT_FREE: f64 = 0.5;

/// A host is full from this share of its processors on, as diagnoses of runs have it: the rest is what
/// schedulers leave idle between two tasks.
pub(super) const CPU_FULL: f64 = 0.85;
/// What was busy before the load may be no more than this, or it is not the server that fills a host.
pub(super) const OTHERS: f64 = 0.15;
/// Twice as many sessions that lower throughput below this are in each other's way.
pub(super) const RETROGRADE: f64 = 0.95;

/// A statement that does nothing and takes so many milliseconds longer beside the load than without it …
pub(super) const NO_CPU_MS: f64 = 5.0;
/// … and so many times as long waits for a processor: where one is free, a scheduler gives it within a
/// slice, which Linux has at 3 ms.
pub(super) const NO_CPU_TIMES: f64 = 5.0;
/// The host of a server that waits for a processor has some to spare below this.
pub(super) const HOST_FREE: f64 = 0.6;
/// Fewer sessions than this can all have a slow transaction at once.
pub(super) const STILL_SESSIONS: usize = 4;
/// Sessions that all stand still for less than this share of the time are not limited by it: without it
/// they would do a third more at most.
pub(super) const STILL_SHARE: f64 = 0.25;
/// Where fewer transactions than this end in an interval, an empty one may be chance …
pub(super) const STILL_EXPECTED: f64 = 10.0;
/// … and where each session ends no more than so many, they may go in step: all began together.
pub(super) const STILL_A_SESSION: f64 = 5.0;

/// Text costs parsing and planning: where CPU is the limit, throughput falls below this.
pub(super) const TEXT_COSTS: f64 = 0.98;

/// An interval is narrow if its ends are nearer than this to each other.
pub(super) const WIDE: f64 = 1.2;
/// An experiment that is not decided excludes something all the same, with less confidence, if its
/// interval ends below this and its middle is nearer to nothing than to the limit.
pub(super) const UNLIKELY_HIGH: f64 = 1.5;
/// Two causes are told apart with confidence if one raises throughput so many times as much as the other.
pub(super) const APART: f64 = 1.25;
