//! Every limit of every rule, with its reason. A limit that is too low makes false alarms, which
//! count as defects; one that is too high lets a number pass that refutes itself.

/// `littles-law`: the smallest share of its users that may be seen at work or waiting in a closed
/// loop. In clean runs it was 0.97 or more once the client's own time was counted; a published table
/// with 768 sessions has 0.45.
pub const USERS_SEEN: f64 = 0.9;
/// `littles-law`: below this share the load was another than the one that is named.
pub const USERS_SEEN_INVALID: f64 = 0.5;
/// `littles-law`: a shorter run is not judged.
pub const USERS_SEEN_SHORTEST_S: f64 = 0.5;
/// `littles-law`: more users than there were can't have been at work; the rest is rounding.
pub const USERS_SEEN_MOST: f64 = 1.05;
/// `littles-law`: microseconds a transaction that counting it may take between two latencies. On an
/// embedded engine whose transactions take three it is a tenth of the time, and no load is missing.
pub const COUNTING_US: f64 = 5.0;
/// `littles-law`: share of the run in which every host could be reached below which nothing is told
/// of users.
pub const SHORTEST_REACH: f64 = 0.1;
/// `littles-law`: standard errors of the number of transactions that are chance where users think.
pub const CHANCE: f64 = 4.0;

/// `summary-mismatch`: how far the intervals' length and the measured time may lie apart, as a share
/// and in seconds: the last interval, shorter than 50 ms, is left out where nothing happened.
pub const TIME_APART: f64 = 0.01;
/// See [`TIME_APART`].
pub const TIME_APART_S: f64 = 0.1;

/// `too-short`: a percentile q needs at least so many samples beyond it, 10/(1−q) in all.
pub const SAMPLES_BEYOND: f64 = 10.0;

/// `too-short`: how many samples a percentile needs; a hint before a run asks here, too.
pub fn samples_needed(percent: f64) -> f64 {
    (SAMPLES_BEYOND / (1.0 - percent / 100.0)).round()
}

/// `too-short`: the highest percentile that every report shows.
pub const PERCENTILE_SHOWN: f64 = 99.0;
/// `too-short`: the lowest that is any use; without samples for it the run is suspect.
pub const PERCENTILE_NEEDED: f64 = 95.0;
/// `too-short`: fewer seconds than these show neither a checkpoint nor a flush, nor whether the rate
/// still moves.
pub const SHORTEST_S: f64 = 5.0;

/// `drift`: fewer intervals than these have no trend that is worth the name.
pub const TREND_INTERVALS: usize = 10;
/// `drift`: how much the rate must have moved over the run, as a share of its mean. Machines and
/// caches move by less between two minutes of a steady run.
pub const TREND_CHANGE: f64 = 0.2;
/// `drift`: how probable a change may be by chance, with errors widened for autocorrelation and by
/// Student's distribution: of ten intervals seven standard errors, of sixty four.
pub const TREND_CHANCE: f64 = 1e-4;
/// `backlog`: standard errors of a growth that is far above what may wait.
pub const TREND_SURE: f64 = 4.0;

/// `two-regimes`: fewer intervals are no state of their own.
pub const REGIME_SHORTEST: usize = 4;
/// `two-regimes`: standard errors between both levels, however many intervals there are. The best of many
/// points is looked for: chance is shared among them ([`TREND_CHANCE`]).
pub const REGIMES_SURE: f64 = 6.0;
/// `two-regimes`: of what a line leaves unexplained, two levels leave less than this share.
pub const REGIMES_BETTER: f64 = 0.5;

/// `littles-law`: seconds that tools take to begin, where the time that they state holds the start-up.
pub const STATED_START_UP_S: f64 = 1.0;

/// `backlog`: seconds of arrivals that wait at the end.
pub const BACKLOG_S: f64 = 1.0;

/// `sampler-gaps`, `evidence-outside-run`: a look that comes so many steps after the one before is late.
pub const GAP_STEPS: f64 = 3.0;
/// `sampler-gaps`: the share of the measurement without a look that is worth telling.
pub const SAMPLES_MISSING: f64 = 0.1;
/// `evidence-outside-run`: the share of the measurement between the first look and the last.
pub const EVIDENCE_COVERS: f64 = 0.9;

/// `not-tpcc-like`: fewer transactions have no mix.
pub const MIX_SAMPLES: f64 = 200.0;
/// `not-tpcc-like`: a type has less than this share of what it has at least; tools that draw types by
/// chance come near the limit.
pub const MIX_APART: f64 = 0.9;

/// `different-windows`: how far two stretches of time are apart before they are two.
pub const WINDOWS_APART: f64 = 0.1;

/// `stall`: an interval below this share of the median one of those in which anything ended.
pub const STALLED_RATE: f64 = 0.05;
/// `stall`: a stretch is judged only where so many transactions were to be expected: with 20, none
/// at all comes by chance once in half a billion stretches.
pub const STALLED_EXPECTED: f64 = 20.0;
/// `stall`, `client-stopped`: dead time below this share of a run moves no mean by more than two
/// repeats differ anyway; from it on the figures may mislead.
pub const DEAD_SUSPECT: f64 = 0.01;
/// `stall`: servers do stall, and then that is what their users see; but with a fifth of the run dead
/// its mean and its percentiles are those of neither state.
pub const TARGET_DEAD_INVALID: f64 = 0.2;
/// `client-stopped`: that time says nothing of the server. As much as of an outage ([`AWAY_INVALID`])
/// is most of what a comparison would find.
pub const CLIENT_DEAD_INVALID: f64 = 0.05;
/// `stall`: shorter stretches without a transaction are not told, in seconds; runs record them from
/// here on.
pub const DEAD_SHORTEST_S: f64 = 0.8;
/// `stall`: a stretch is at least so many times what a transaction takes and a user thinks: users in
/// step with each other all end at once, and nothing ends between.
pub const DEAD_LATENCIES: f64 = 3.0;
/// `stall`: the share of transactions whose time is what one takes; a server under load has a few
/// in a thousand that waited for others (SQLite's lock is not fair).
pub const DEAD_USUAL: f64 = 0.99;
/// `stall`: transactions that took longer than so many times a stretch were not kept by it alone.
pub const DEAD_LONGER: f64 = 2.0;
/// A stretch of at most so many seconds that ends as the server breaks a deadlock was a wait for that:
/// PostgreSQL looks for one after `deadlock_timeout`, which is a second by default.
pub const DEADLOCK_LONGEST_S: f64 = 2.0;
/// `stall`: the slowest transaction is at least this many times the 99.9th percentile,
pub const STALLED_LATENCY: f64 = 20.0;
/// and this slow, in milliseconds.
pub const STALLED_LATENCY_MS: f64 = 1000.0;
/// `stall`: an interval whose percentile is so many times the run's is where the slowest ended.
pub const STALLED_INTERVAL: f64 = 3.0;
/// `stall`: with fewer transactions the slowest is itself the 99.9th percentile.
pub const STALLED_SAMPLES: u64 = 2000;

/// `error-rate`: errors that were passed over, as a share of all tries. A deadlock now and then
/// changes nothing that can be measured.
pub const ERRORS: f64 = 0.01;
/// `error-rate`: at one in ten the work is another than the one that was asked for.
pub const ERRORS_INVALID: f64 = 0.1;

/// `outage`: a host away for so much of the time measured is most of what a comparison would find.
pub const AWAY_INVALID: f64 = 0.05;

/// `no-op-writes`: INSERT, UPDATE and DELETE that changed nothing, as a share of all of them. Two
/// sessions that meet at one row make some in a thousand.
pub const NO_OP_WRITES: f64 = 0.05;
/// `no-op-writes`: at half of them the workload is no longer one that writes.
pub const NO_OP_WRITES_INVALID: f64 = 0.5;
/// `no-op-writes`: fewer writes say nothing.
pub const NO_OP_SAMPLES: u64 = 100;

/// `carried-state`: rows more or less than the load makes, as a share. Less moves no figure that can
/// be measured.
pub const CARRIED_ROWS: f64 = 0.01;

/// `carried-state`: whether a table has other rows than it should; a hint before a run asks here, too.
pub fn rows_differ(rows: u64, expected: u64) -> bool {
    rows.abs_diff(expected) as f64 > expected as f64 * CARRIED_ROWS
}

/// `latency-floor`: the smallest share of the mean that the fastest transaction may take: beside a
/// server that works, the fastest is a small part of the mean. The published example has 0.91.
pub const FLOOR: f64 = 0.85;
/// `latency-floor`: milliseconds below which a floor is a server's work as well as a network's.
pub const FLOOR_MS: f64 = 2.0;
/// `latency-floor`: fewer transactions have no floor.
pub const FLOOR_SAMPLES: u64 = 200;

/// `sampler-gaps`: seconds after which a sampler has a server again that was gone.
pub const COMES_BACK_S: f64 = 5.0;

/// `tpcc-cap`: how far tpmC may lie above what think times allow: chance, and the run's ends.
pub const TPMC_ABOVE_CAP: f64 = 1.1;

/// `client-bound`: share of the latency that passed on the client's own host. A session that is woken
/// and reads its reply takes some microseconds; a quarter of the latency is a queue.
pub const CLIENT_SHARE: f64 = 0.25;
/// `client-bound`: less, in milliseconds, is what waking and reading take on an idle host.
pub const CLIENT_SHARE_MS: f64 = 0.05;
/// `client-bound`: less, in milliseconds, is what a timer takes to wake a client that sleeps: 0.05 ms of slack
/// (Linux, `PR_SET_TIMERSLACK`), and leaving the processor's idle state.
pub const CLIENT_ASLEEP_MS: f64 = 0.2;
/// `client-bound`: fewer transactions say nothing of a share.
pub const CLIENT_SHARE_SAMPLES: u64 = 200;

/// `clients-missing`: milliseconds of which a client told nothing. What one interval lacks may be lateness.
pub const CLIENT_MISSING_MS: f64 = 1000.0;

/// `one-client-bound`: share of a client's processors from which on sessions wait for them.
pub const CLIENT_BUSY: f64 = 0.9;
/// `one-client-bound`: below it another client could have done more.
pub const CLIENT_FREE: f64 = 0.7;

/// `client-lagged`: by how many milliseconds an interval was too long. Where nothing else runs a thread
/// wakes within a few; half a second is a process that did not run.
pub const CLIENT_LAG_MS: f64 = 500.0;
/// `client-lagged`: milliseconds between the common start and a client's own. Clocks agree to a few.
pub const CLIENT_LATE_MS: f64 = 100.0;
/// `client-lagged`: from here on the run was another one for this time.
pub const CLIENT_LAG_SUSPECT_MS: f64 = 2000.0;

/// `clients-unequal`: distance of the two clients that are furthest apart, as a share. Clients alike are
/// within some hundredths of each other.
pub const CLIENTS_APART: f64 = 0.15;
/// `clients-unequal`: from here on the sum describes neither.
pub const CLIENTS_APART_SUSPECT: f64 = 0.4;
/// `clients-unequal`: so many standard errors are no chance.
pub const CLIENTS_ERRORS: f64 = 6.0;
/// `clients-unequal`: a client that did less is not compared.
pub const CLIENTS_TRANSACTIONS: u64 = 500;

/// `unfair`: standard deviation of the sessions' transactions over their mean. Sessions of clean runs
/// are within a tenth of each other; at a half some do three times the work of others.
pub const UNEVEN_NOTED: f64 = 0.5;
/// `unfair`: at this the mean session is no session that there was.
pub const UNEVEN: f64 = 1.0;
/// `unfair`: with fewer transactions a session, chance alone makes them differ.
pub const UNEVEN_EVENTS: f64 = 20.0;

/// `heavy-tail`: the slowest transactions, as a share of all.
pub const TAIL_COUNT: f64 = 0.01;
/// `heavy-tail`: share of all latency that they hold. An exponential distribution has 0.06, a lognormal
/// one whose 99th percentile is fifty times its median 0.3.
pub const TAIL_SHARE: f64 = 0.5;
/// `heavy-tail`: fewer transactions have no slowest hundredth.
pub const TAIL_SAMPLES: u64 = 1000;
/// `heavy-tail`: fewer intervals don't tell a steady tail from one moment's.
pub const TAIL_INTERVALS: usize = 3;
/// `overlap`: the share of the shorter run above which two on one server ran at the same time; less
/// is the difference of two hosts' clocks, and sessions that close while others open.
pub const OVERLAPS: f64 = 0.05;
/// `overlap`: the share of all their time that must be common to runs before their rates are added;
/// what is left over at both ends is a load of fewer clients.
pub const OVERLAPS_WHOLLY: f64 = 0.8;
/// `repeats-disagree`: the largest repeat is at least this many times the smallest, in throughput or in
/// mean latency. Repeats on a quiet machine are within a tenth; on a noisy one within a third.
pub const REPEATS_APART: f64 = 1.5;
/// `order-effect`: so many repeats that all climb, or all fall, in the order in which they ran. By
/// chance five do so once in sixty times, and seldom by [`ORDER_CHANGE`].
pub const ORDER_REPEATS: usize = 5;
/// `order-effect`: the last repeat beside the first, as a share; less changes no conclusion.
pub const ORDER_CHANGE: f64 = 0.1;

/// `summary-mismatch` of imported figures: how far a figure and what it follows from may lie apart beyond
/// their rounding. Tools time a rate and a run by two clocks, which differ by a few thousandths.
pub const STATED_APART: f64 = 0.02;
/// `summary-mismatch`: the same where only the time asked for is stated, and connecting is in it.
pub const STATED_TIME_APART: f64 = 0.05;
/// `summary-mismatch`: HammerDB's New-Orders a minute and all transactions are of two sources, the tables and
/// the database's own counters, which are read one after the other.
pub const ORDERS_APART: f64 = 0.05;
/// `summary-mismatch`: a session of BenchmarkSQL may miss its minutes by this share,
pub const SESSION_APART: f64 = 0.1;
/// and its slowest transactions take so many seconds more.
pub const SESSION_APART_S: f64 = 30.0;
/// `summary-mismatch`: BenchmarkSQL draws each transaction's type by its weight; those that fail are counted
/// as well. So many points beside chance are no draw.
pub const NEW_ORDERS_APART: f64 = 0.05;
/// `summary-mismatch`: so many commits a transaction at most. Some databases count each storage engine's, and
/// older procedures commit twice.
pub const COMMITS_MOST: f64 = 3.0;
/// `setting-contradicts`: sizes that are so many times each other. MySQL rounds that of the buffer pool up to
/// whole chunks.
pub const SETTING_APART: f64 = 2.0;
/// `setting-contradicts`: seconds that a run begins late or ends late beside the time asked for: sessions
/// are opened, and clocks are looked at once a second.
pub const ENDS_S: f64 = 1.0;
/// `summary-mismatch`: the types' counts of a status line are taken after the operations, by so many
/// seconds at most,
pub const COUNTED_LATER_S: f64 = 0.1;
/// and both count while sessions work.
pub const STATED_COUNTS_APART: f64 = 0.01;
/// `summary-mismatch`: a percentile of the run lies between those of its intervals where they hold all
/// transactions but for this share,
pub const INTERVALS_WHOLE: f64 = 0.01;
/// and but for this share of it: a hundredth more that is slow moves a 95th percentile to the 94th or 96th,
/// some 7 % of an exponential distribution, and buckets are 2 % wide.
pub const PERCENTILES_APART: f64 = 0.1;
/// `summary-mismatch`: lines over time are compared with the summary where they cover so much of the run.
pub const INTERVALS_COVER: f64 = 0.9;
/// `littles-law`, `summary-mismatch`: seconds that sysbench takes between two events of a session, in no
/// event's time. Beside statements they are nothing, beside a memory access much.
pub const BETWEEN_EVENTS_S: f64 = 2e-6;
/// `summary-mismatch`: statements of a transaction that did not end may blur the number of those of each by
/// so many at most.
pub const STATEMENTS_BLUR: f64 = 0.1;
/// `summary-mismatch`: by how much the statements of a transaction in one row of a table may differ from
/// those of all other rows. Those of transactions that were rolled back are counted as well: with one in
/// ten that is `error-rate`.
pub const STATEMENTS_EACH_APART: f64 = 0.1;
/// `impossible-pair`: BenchBase's goodput counts the warm-up as well, which is no longer than the run where
/// nothing is said of it.
pub const WARMUP_LONGEST: f64 = 1.0;
/// `percentile-below-mean`, `impossible-pair`, `heavy-tail`: a percentile is the edge of a
/// histogram's bucket; those of sysbench are some 3 % wide.
pub const PERCENTILE_STEP: f64 = 0.05;
/// `rate-missed`: chance and the run's ends take less.
pub const RATE_MISSED: f64 = 0.95;
/// `not-found`: a few keys are inserted while they are read.
pub const NOT_FOUND: f64 = 0.01;
/// `not-found`: fewer operations are those few.
pub const NOT_FOUND_LEAST: u64 = 10;
/// `tpcc-efficiency`: tools round the limit of a warehouse differently.
pub const EFFICIENCY_APART: f64 = 0.01;
/// `tpcc-cap` of imported figures: percent of the terminals that a specification asks for. Less is fewer by a
/// terminal in a hundred, which no rounding makes.
pub const FEWER_TERMINALS: f64 = 99.0;
/// `too-short` of imported figures: a type with a smaller share of all transactions is rare in its mix, and a
/// tool prints the same percentiles of each.
pub const RARE: f64 = 0.1;
/// `wrong-column`: sessions = rate × latency holds for a closed loop but for this part: ramp-up and the client's
/// own time take some hundredths.
pub const LAW_HOLDS: f64 = 0.1;
/// `wrong-column`: the same of figures that change places. By chance one of ten swaps would come within a tenth.
pub const LAW_HOLDS_SWAPPED: f64 = 0.05;
/// `wrong-column`: from here on the figures where they stand refute each other, however much of the time a client
/// took for itself ([`USERS_SEEN_INVALID`]).
pub const LAW_REFUTED: f64 = 0.5;
/// `wrong-working-set`: operations by the records that a run names. A trial has as many of both; of ten times as
/// many each record is asked for again and again, which nobody means who loaded more.
pub const OPERATIONS_A_RECORD: f64 = 10.0;
/// `unequal-conditions`: durations of documents that differ by this factor are two. Less is how late a run ended.
pub const OTHER_TIME: f64 = 1.5;
