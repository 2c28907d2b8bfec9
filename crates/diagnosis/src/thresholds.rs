//! Every limit of every cause, with its reason. A verdict that is sure and wrong is the worst there is, so
//! limits are where the neighbouring cause can no longer make the same evidence.

/// Share of the latency from which a part is worth a finding: removing less would move the rate by less
/// than a third, and repeats differ by that much on noisy machines.
pub const SHARE: f64 = 0.25;
/// Share from which a part is the largest one, or nearly: a finding can be sure.
pub const MOST: f64 = 0.4;
/// Share below which a part changes no verdict.
pub const SMALL: f64 = 0.15;
/// Share of the run in which nothing moved, from which that comes before what limits the rest of it.
pub const PAUSED: f64 = 0.1;

/// Seconds with looks at sessions below which what they were at is chance: each has ten looks.
pub const FEWEST_LOOKS: usize = 5;
/// Session-seconds in the server in which a transaction type must have been seen to have parts of its own: some
/// fifty looks, which tell a third as a fifth to nearly a half (95 %).
pub const FEWEST_OF_TYPE: f64 = 5.0;
/// So many of its transactions must have ended: looks at one long transaction tell only of that one.
pub const FEWEST_ENDED: u64 = 30;
/// Session-seconds for which transactions must have been seen blocked by row locks, once a second, to divide
/// their waits by type.
pub const FEWEST_BLOCKED: f64 = 30.0;
/// Share of the sessions at work that may go on to another transaction while the server is asked. Each that does
/// counts half at the type before and half at that after, which makes types look alike.
pub const MOST_WENT_ON: f64 = 0.2;
/// Share of tries that may fail. The server worked for them, and nobody counted them by type.
pub const MOST_FAILED: f64 = 0.1;
/// The level of intervals.
pub const LEVEL: f64 = 0.95;
/// What the server's parts come to by what is left of the latency, above which they are not all this
/// run's: clocks and samples differ by less.
pub const OVER: f64 = 1.2;
/// One cause makes another one if it takes at least this part of it: without it the rate is at least 1.7
/// times as high, and what sessions wait for takes processors beside them, too.
pub const MAKES_MOST: f64 = 0.4;

/// Ranking: what a finding of medium confidence counts. A sure cause comes before it unless it takes a quarter
/// more.
pub const OF_MEDIUM: f64 = 0.8;
/// Ranking: the same of low confidence. It is never the verdict, and stands behind what may be.
pub const OF_LOW: f64 = 0.2;

/// `server-cpu`: share of a host's processors above which it is saturated. Threads that wake each other
/// leave gaps: hosts on which more sessions bring no more show 0.85 to 1.
pub const CPU_FULL: f64 = 0.85;
/// `server-cpu`: from here on the CPU is the next limit, but for little.
pub const CPU_NEAR: f64 = 0.75;
/// Below this share of its processors a host is not what limits.
pub const CPU_IDLE: f64 = 0.7;

/// `client-cpu`: milliseconds that waking and reading take on an idle host.
pub const CLIENT_MS: f64 = 0.05;
/// `client-cpu`: processors of one executor thread that is busy all the time.
pub const THREAD_FULL: f64 = 0.9;

/// `cpu-quota`: time that threads waited for a processor, by the time they had one, above which they were
/// kept off it although processors were idle. Wake-ups on an idle host take some hundredths, new connections
/// as much as they run.
pub const KEPT_OFF: f64 = 1.5;
/// `cpu-quota`: the same for a sure finding. A quota of a tenth of what is needed makes 9.
pub const SURELY_KEPT_OFF: f64 = 4.0;
/// `cpu-quota`: tasks that waited for a processor on average. Fewer are those that a host wakes up.
pub const WAITED_FOR_CPU: f64 = 0.1;
/// `cpu-quota`: sessions that could run by the processors that the server uses.
pub const READY: f64 = 2.0;
/// `cpu-quota`: processors that a server counts as using at least: of nearly none, one session that is about to
/// run is many times as much.
pub const LEAST_USED: f64 = 0.25;
/// `cpu-quota`: share of the processors of a second below which there was room for every thread. Above it
/// a part of the second may have been full.
pub const ROOM: f64 = 0.5;
/// `cpu-quota`: share of the seconds with room: a load that comes in bursts is kept off by itself.
pub const ROOM_MOSTLY: f64 = 0.5;
/// `cpu-quota`: share of the periods in which a control group used its quota up. A group that is at its
/// limit now and then has a tenth; from a half on it has no more to give.
pub const USED_UP: f64 = 0.5;
/// `cpu-quota`: share of the processors that the hypervisor took. Virtual machines that share a host lose a
/// tenth now and then.
pub const STOLEN: f64 = 0.25;

/// `neighbour`: processors that nobody of the run used. The kernel's own work and the sampling of ticks
/// come to less.
pub const OTHERS_CORES: f64 = 0.25;
/// `neighbour`: the same as a share of all processors, on large hosts.
pub const OTHERS_SHARE: f64 = 0.1;
/// `neighbour`: the same as a share, of a sure finding: what is nobody's by the sampling of ticks is less than
/// half of it.
pub const SURE_OTHERS: f64 = 0.2;
/// `server-cpu`: the part of a host's busy processors from which they are mostly others'.
pub const OF_OTHERS: f64 = 0.5;
/// `neighbour`: the part of it that the busiest program uses, of a sure finding.
pub const NAMED: f64 = 0.5;
/// `neighbour`: time that client and server waited for a processor, by the time they had one. A program
/// that runs only when nobody else does (nice) makes them wait less.
pub const HELD_UP: f64 = 0.15;

/// `network-distance`: milliseconds of a round trip on one host, which no distance has.
pub const LOOPBACK_MS: f64 = 0.05;
/// `network-distance`: the part of the time on the way that measured round trips explain, of a sure finding:
/// the kernel's shortest round trip has no queue.
pub const PROVEN_WAY: f64 = 0.5;
/// `network-distance`, where none was measured: milliseconds of a round trip outside client and
/// server. Loopback takes 0.03 to 0.1, one data centre 0.1 to 0.5. Pings, which include the server's time
/// for them, count from here on.
pub const DISTANT_MS: f64 = 0.2;
/// `network-distance`: the fastest transaction as a share of the time on the way. A distance is the same
/// for each; pauses and queues are not.
pub const CONSTANT: f64 = 0.6;
/// `network-distance`, without a look at sessions: the fastest transaction by the mean, above which nearly
/// all of it is a fixed cost.
pub const FLOOR: f64 = 0.85;

/// `commit-log`: flushes per second below which no commit waited for one.
pub const SYNCS: f64 = 1.0;
/// `commit-log`: how many times as many flushes a disk may count as the server, or as few, where both count
/// the same: a file system adds one for its own journal to each.
pub const SAME_FLUSHES: f64 = 2.0;

/// `disk-rate`: share of the time in which the disk had requests, and requests that it had at once: one
/// writer that flushes keeps a disk busy, too, with one request.
pub const DISK_BUSY: f64 = 0.9;
/// See [`DISK_BUSY`].
pub const DISK_QUEUE: f64 = 2.0;
/// `disk-rate`: the part of what a control group allows from which it is used up: the kernel gives it out in
/// slices, and a queue that is empty for a moment loses one.
pub const ALLOWED_USED: f64 = 0.8;
/// `disk-rate`: the same of the most that a group can use of it: what slices and their ends add is less, and
/// more is used by programs outside the group.
pub const ALLOWED_OVER: f64 = 1.2;
/// `disk-rate`: how much longer the queue is in one half of the run than in the other, and how much more is
/// then served by a disk that has room. Parallel disks are busy all the time with one request of hundreds.
pub const QUEUE_GREW: f64 = 1.5;
/// See [`QUEUE_GREW`].
pub const SERVED_MORE: f64 = 1.1;
/// `disk-rate`: milliseconds of one read that no cache and no healthy flash takes.
pub const READ_MS: f64 = 1.0;

/// `cache-misses`: pages of a transaction that the cache lacked.
pub const MISSES: f64 = 0.5;
/// `cache-misses`: share of the pages asked for that the cache had. A benchmark whose rows fit has 0.99
/// and more once warm.
pub const HITS: f64 = 0.95;
/// `cache-misses`: milliseconds of CPU that a page may take which the cache lacks, at most. Enough for a hint
/// to try a larger cache; no server measures it.
pub const MISS_CPU_MS: f64 = 0.02;

/// `lock-held`: part of the sessions waiting for a table's lock that wait for one which only DDL takes for
/// itself, from which on it is theirs: the others have locks in turn.
pub const OF_DDL: f64 = 0.5;
/// `lock-held`: seconds of one wait for a lock, or of the oldest transaction, that no transaction of a
/// benchmark takes.
pub const HELD_S: f64 = 2.0;
/// `lock-held`: the oldest transaction's age on average, by [`HELD_S`]: a lock that is taken anew begins at 0,
/// and is half as old on average as at its end.
pub const HELD_MEAN: f64 = 0.5;
/// `lock-held`: sessions that others block, on average: most of the time one is.
pub const BLOCKED: f64 = 0.5;
/// `lock-held`: time in which nothing ended by the share of the waits for table locks, of a sure finding where
/// no server says who holds them: most of what they waited for.
pub const STOOD: f64 = 0.5;
/// `lock-held`: the slowest second's rate by the mean.
pub const STILL: f64 = 0.2;

/// `connection-churn`: connections opened for each transaction.
pub const CHURN: f64 = 0.1;

/// `checkpoints`: share of the log's room up to the last checkpoint from which InnoDB flushes at all
/// costs (it begins at 7/8).
pub const LOG_FULL: f64 = 0.8;
/// `checkpoints`: seconds between checkpoints that the log's size forced; PostgreSQL warns below 30.
pub const CHECKPOINT_S: f64 = 30.0;
/// `checkpoints`: share of the log that is whole pages, written after each checkpoint.
pub const WHOLE_PAGES: f64 = 0.5;
/// `checkpoints`: how far the rate falls while one runs.
pub const DIP: f64 = 0.25;
/// `checkpoints`: intervals of each kind without which no fall is measured.
pub const FEWEST_INTERVALS: usize = 3;
/// `checkpoints`: standard errors by which the rates of the two kinds differ.
pub const FALLS_BY: f64 = 3.0;

/// `long-transaction`: seconds that a transaction is open and longer than any of the run's own.
pub const OPEN_S: f64 = 5.0;
/// `long-transaction`: seconds by which the oldest transaction ages each second, if it is one: whole seconds of
/// the server's clock make some look half as long.
pub const AGES: f64 = 0.5;
/// `long-transaction`: its age by the run's own longest transaction, which may wait, too.
pub const LONGER_THAN_OWN: f64 = 2.0;
/// `long-transaction`: old versions for each row from which reading them is half of the work.
pub const VERSIONS_A_ROW: f64 = 1.0;
/// `long-transaction`: share of the run's writing transactions whose old versions stay.
pub const NOTHING_PURGED: f64 = 0.9;
/// `long-transaction`, `cleanup`: transactions whose old versions are kept; fewer slow nobody.
pub const HISTORY: f64 = 10_000.0;
/// `long-transaction`, `cleanup`: rows that nobody sees, if they are more than the others.
pub const DEAD_ROWS: f64 = 1_000.0;
/// `cleanup`: growth of a transaction's CPU over the run.
pub const DRIFT: f64 = 0.2;
/// `cleanup`: milliseconds of a third of the run, which is compared with another: of one look a second they
/// are two each.
pub const THIRD_MS: f64 = 2000.0;

/// `cleanup`: microseconds for which TiKV's engine held a write back, by its own 99th percentile: 0 without stalls.
pub const STALLED_US: f64 = 1000.0;
/// `cleanup`: sublevels of level 0 from which CockroachDB's manual calls a store unhealthy and admission control
/// holds writes back.
pub const SUBLEVELS: f64 = 20.0;
/// `cleanup`: writes a second that a tablet server of YugabyteDB turned away; a few at a restart are fewer.
pub const REJECTIONS: f64 = 1.0;

/// `missing-index`: rows that a statement reads. A range of sysbench has 100, TPC-C's longest some 200 now
/// and then.
pub const ROWS_A_STATEMENT: f64 = 500.0;
/// `missing-index`: part of the rows read that whole tables were read for.
pub const SCANNED: f64 = 0.5;
/// `missing-index`: bytes over the network for each row that is read. The narrowest row that is sent has
/// about as many, with its packet.
pub const BYTES_A_ROW: f64 = 8.0;

/// `offered-load`: share of a terminal's cycle that its user waits for the reply, at most: else a faster
/// server would raise the rate.
pub const WAITED: f64 = 0.1;
/// `overload`, `offered-load`: share of the arrivals that were served; chance and the run's ends take less.
pub const SERVED: f64 = 0.97;

/// `overload`, `offered-load`: share of the time that sessions are busy; below it random arrivals seldom
/// wait.
pub const CROWDED: f64 = 0.6;
/// `overload`, `offered-load`: standard deviations of random arrivals that are chance.
pub const CHANCE: f64 = 4.0;

/// `other-sessions`: sessions of others at a statement on average. One now and then is a monitor's.
pub const OTHERS_ACTIVE: f64 = 0.5;

/// Sessions of others at a statement on average, from which what a server counts of all may be theirs: a
/// monitor that asks once a second has some hundredths.
pub const OTHERS_SEEN: f64 = 0.1;

/// `server-stalls`: share of the run without a transaction. One stall of a second in a minute is a sixtieth.
pub const DEAD: f64 = 0.02;
/// `server-stalls`: seconds in which the observing sessions, which look ten times a second, heard nothing,
/// either.
pub const SILENT_S: f64 = 1.5;
/// `server-stalls`: the part of a stall in which they heard nothing: most of it.
pub const SILENT: f64 = 0.5;
/// `server-stalls`: packets that were sent again in a stall of the network: a single one that gets lost as long
/// as observing sessions are silent is sent again after 0.2, 0.6 and 1.4 s (RFC 6298 with Linux' shortest wait).
pub const SENT_AGAIN: f64 = 3.0;
/// `server-stalls`: and so many times as many as in as long a time without a stall.
pub const MORE_SENT_AGAIN: f64 = 3.0;

/// `server-stalls`: intervals with short pauses; one alone may be the hypervisor's.
pub const FEWEST_PAUSES: usize = 2;
/// `server-stalls`: milliseconds of a pause. The scheduler of a busy host takes tens.
pub const LONG_PAUSE_MS: f64 = 150.0;
/// `server-stalls`: a pause by the median latency: of exponential ones one in 250 is as long.
pub const UNUSUAL: f64 = 8.0;
/// `server-stalls`: slow transactions of an interval by the sessions. A pause stops nearly all of them; a
/// client takes up their replies one by one.
pub const ALL_SESSIONS: f64 = 0.75;
/// `server-stalls`: of fewer sessions all are slow at once by chance.
pub const FEWEST_SESSIONS: f64 = 4.0;
/// `server-stalls`: slow transactions of the other intervals by the sessions. Of a tail that is spread over
/// the run each interval has some.
pub const SPREAD: f64 = 0.1;
/// `server-stalls`: part of a pause by which its interval's transactions are fewer, of a closed loop.
pub const FEWER: f64 = 0.5;
/// `server-stalls`: slow transactions by the sessions, up to which each has one. Where others make up for a
/// short pause in its interval, this shows it.
pub const ONCE_EACH: f64 = 1.25;
/// `server-stalls`: the shortest of them by the longest: those of a tail differ by more.
pub const ALIKE: f64 = 0.9;

/// `store-imbalance`: CPU of one node by the mean of the others.
pub const UNEVEN: f64 = 2.0;
/// `store-imbalance`: processors of the busiest node: of nodes that all idle one may do twice as much.
pub const AT_WORK: f64 = 0.5;

/// `coherency`: share of the throughputs' variance that the scalability law explains where it is theirs: of
/// noise alone it explains nothing, of saturating throughputs nearly all.
pub const LAW_FITS: f64 = 0.9;
/// `coherency`: how far throughput is below its peak. Saturated servers lose some percent to the sessions
/// themselves.
pub const FALLEN: f64 = 0.1;

/// Between two sides: a part that changed by less of the mean is what repeats differ by.
pub const PART_CHANGED: f64 = 0.05;
/// Between two sides: where more of a latency is unexplained, a change of its parts tells little.
pub const MOST_UNEXPLAINED: f64 = 0.5;
