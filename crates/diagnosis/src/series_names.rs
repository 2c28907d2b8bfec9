//! What series are called: in charts, tables and evidence alike.

use crate::Lang;

/// A series by its name, whichever source has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeriesName {
    /// As records have it.
    pub name: &'static str,
    /// Whether reports have a picture of it; of the others the table is enough.
    pub drawn: bool,
    en: &'static str,
    zh: &'static str,
}

impl SeriesName {
    /// What people call it.
    pub fn called(&self, lang: Lang) -> &'static str {
        match lang {
            Lang::En => self.en,
            Lang::Zh => self.zh,
        }
    }
}

/// What people call a series; its name where it has no other.
pub(crate) fn called(name: &str, lang: Lang) -> &str {
    let known = SERIES_NAMES.iter().find(|known| known.name == name);
    known.map_or(name, |known| known.called(lang))
}

const fn name(name: &'static str, drawn: bool, en: &'static str, zh: &'static str) -> SeriesName {
    SeriesName {
        name,
        drawn,
        en,
        zh,
    }
}

/// Of all series that have a name for people, in the order in which they are told.
#[rustfmt::skip] // a row each
pub const SERIES_NAMES: &[SeriesName] = &[
    name("cpu.busy", true, "Processors: busy", "CPU 使用率"),
    name("cpu.user", false, "Processors: user", "CPU 用户态"),
    name("cpu.system", false, "Processors: system", "CPU 内核态"),
    name("cpu.iowait", false, "Processors: I/O wait", "CPU I/O 等待"),
    name("cpu.steal", false, "Processors: steal", "CPU 被宿主机占用（steal）"),
    name("cpu.interrupts", false, "Processors: interrupts", "CPU 中断"),
    name("threads.cpu", true, "Client threads: CPU", "压测线程 CPU 用量"),
    name("threads.run-delay", true, "Client threads: run delay", "压测线程调度延迟（run delay）"),
    name("cgroup.quota", false, "CPU quota", "CPU 配额"),
    name("cgroup.used-up", true, "CPU quota: periods in which it was used up", "CPU 配额：用尽的周期比例"),
    name("cgroup.throttled", false, "CPU quota: run queues stopped", "CPU 配额：运行队列被停止的时间"),
    name("cgroup.reads-allowed", false, "I/O quota: reads", "I/O 配额：读次数"),
    name("cgroup.writes-allowed", false, "I/O quota: writes", "I/O 配额：写次数"),
    name("cgroup.read-allowed", false, "I/O quota: read", "I/O 配额：读取"),
    name("cgroup.written-allowed", false, "I/O quota: written", "I/O 配额：写入"),
    name("memory.used", true, "Memory: used", "已用内存"),
    name("memory.available", false, "Memory: available", "可用内存"),
    name("memory.resident", true, "Memory: client, resident", "压测进程常驻内存"),
    name("network.received", true, "Network: received", "网络接收"),
    name("network.sent", true, "Network: sent", "网络发送"),
    name("network.packets-received", false, "Network: packets received", "网络接收包数"),
    name("network.packets-sent", false, "Network: packets sent", "网络发送包数"),
    name("ping.latency", true, "Ping statement: latency", "ping 语句延迟"),
    name("network.rtt", true, "Sessions' sockets: round trip", "会话 TCP 往返时间（RTT）"),
    name("network.rtt.min", false, "Sessions' sockets: round trip, lowest", "会话 TCP 往返时间（最低的会话）"),
    name("network.rtt.max", false, "Sessions' sockets: round trip, highest", "会话 TCP 往返时间（最高的会话）"),
    name("network.min_rtt", false, "Sessions' sockets: shortest round trip", "会话 TCP 最短往返时间（min_rtt）"),
    name("network.session-received", false, "Sessions' sockets: received", "会话 TCP 接收"),
    name("network.session-sent", false, "Sessions' sockets: sent", "会话 TCP 发送"),
    name("network.retransmits", true, "Sessions' sockets: retransmits", "会话 TCP 重传"),
    name("tcp.segments-sent", false, "TCP: segments sent", "TCP 发送段数"),
    name("tcp.retransmits", true, "TCP: retransmits", "TCP 重传"),
    name("tcp.timeouts", false, "TCP: timeouts", "TCP 超时"),
    name("disk.busy", true, "Disks: busy", "磁盘忙碌比例"),
    name("disk.read", true, "Disks: read", "磁盘读取"),
    name("disk.written", true, "Disks: written", "磁盘写入"),
    name("disk.queue", false, "Disks: requests in flight", "磁盘在途请求"),
    name("disk.reads", false, "Disks: reads", "磁盘读次数"),
    name("disk.writes", false, "Disks: writes", "磁盘写次数"),
    name("disk.read-time", false, "Disks: time of reads", "磁盘读耗时"),
    name("disk.write-time", false, "Disks: time of writes", "磁盘写耗时"),
    name("disk.flushes", false, "Disks: flushes", "磁盘刷盘次数"),
    name("disk.flush-time", false, "Disks: time of flushes", "磁盘刷盘耗时"),
    name("pressure.cpu.some", true, "Pressure: CPU", "CPU 压力（PSI）"),
    name("pressure.io.some", true, "Pressure: I/O, some tasks", "I/O 压力（PSI some）"),
    name("pressure.io.full", false, "Pressure: I/O, all tasks", "I/O 压力（PSI full）"),
    name("pressure.memory.some", false, "Pressure: memory", "内存压力（PSI）"),
    name("context-switches", false, "Context switches", "上下文切换"),
    name("processes.running", false, "Runnable tasks", "可运行任务"),
    name("processes.blocked", false, "Tasks waiting for I/O", "等待 I/O 的任务"),
    name("process.cpu-user", true, "Server: CPU, user", "服务器进程 CPU（用户态）"),
    name("process.cpu-system", true, "Server: CPU, system", "服务器进程 CPU（内核态）"),
    name("process.cpu-observing", false, "Server: CPU of being observed", "服务器 CPU：观测开销"),
    name("process.run-delay", false, "Server: run delay", "服务器进程调度延迟（run delay）"),
    name("process.context-switches", true, "Server: context switches", "服务器进程上下文切换"),
    name("process.disk-read", true, "Server: read from disk", "服务器进程磁盘读取"),
    name("process.disk-written", true, "Server: written", "服务器进程写入"),
    name("process.reads", false, "Server: read calls", "服务器进程读调用"),
    name("process.writes", false, "Server: write calls", "服务器进程写调用"),
    name("process.resident", true, "Server: memory, resident", "服务器进程常驻内存"),
    name("process.tasks", false, "Server: processes and threads", "服务器进程与线程数"),
    name("programs.cpu", false, "Other programs: CPU", "其他程序 CPU"),
    name("sessions", true, "Sessions", "会话"),
    name("sessions.others", false, "Sessions of others", "其他会话"),
    name("sessions.by-type", false, "Sessions by transaction type", "会话：按事务类型"),
    name("sessions.by-type.went-on", false, "Sessions that went on to another transaction during a look", "会话：采样期间已进入下一事务"),
    name("sessions.open", false, "Sessions: open", "会话：已建立"),
    name("sessions.running", false, "Sessions: running", "会话：执行中"),
    name("sessions.active-time", false, "Sessions: time executing", "会话：执行语句的时间"),
    name("sessions.idle-in-transaction-time", false, "Sessions: time idle in transactions", "会话：事务中空闲的时间（idle in transaction）"),
    name("connections", false, "Sessions: opened", "会话：新建"),
    name("threads.created", false, "Server threads: created", "服务器新建线程"),
    name("queries", true, "Statements", "语句"),
    name("commits", true, "Commits", "提交"),
    name("rollbacks", false, "Rollbacks", "回滚"),
    name("rows.read", true, "Rows read", "读取行"),
    name("rows.scanned", false, "Rows read by full scans", "全表扫描读取行"),
    name("rows.fetched", false, "Rows fetched by index scans", "索引扫描读取行"),
    name("rows.inserted", false, "Rows inserted", "插入行"),
    name("rows.updated", false, "Rows updated", "更新行"),
    name("rows.deleted", false, "Rows deleted", "删除行"),
    name("buffer.requests", false, "Cache: pages requested", "缓存：请求页"),
    name("buffer.misses", true, "Cache: pages missed", "缓存：未命中页"),
    name("buffer.dirty", false, "Cache: dirty pages", "缓存：脏页"),
    name("buffer.allocated", false, "Cache: buffers allocated", "缓存：分配的缓冲页"),
    name("buffer.evictions", false, "Cache: pages evicted", "缓存：淘汰的页"),
    name("buffer.waits-for-free", true, "Cache: waits for a free page", "缓存：等待空闲页"),
    name("pages.read", false, "Pages read", "读入页"),
    name("pages.written", false, "Pages written", "写出页"),
    name("background.pages-written", false, "Pages written by the background writer", "后台写进程（bgwriter）写出页"),
    name("background.stops", false, "Background writer: stopped at its limit", "后台写进程（bgwriter）：达到写出上限的次数"),
    name("data.read", false, "Data read", "数据读取"),
    name("data.written", false, "Data written", "数据写入"),
    name("data.syncs", true, "Flushes to disk", "刷盘"),
    name("data.read-time", false, "Data: time of reads", "数据：读耗时"),
    name("data.write-time", false, "Data: time of writes", "数据：写耗时"),
    name("data.sync-time", false, "Data: time of flushes", "数据：刷盘耗时"),
    name("data.backend-syncs", false, "Flushes to disk by sessions themselves", "后端进程自行刷盘"),
    name("data.pending-reads", false, "Data: reads in flight", "数据：未完成的读"),
    name("data.pending-writes", false, "Data: writes in flight", "数据：未完成的写"),
    name("data.pending-syncs", false, "Data: flushes in flight", "数据：未完成的刷盘"),
    name("io.reads", false, "Reads by kind of process", "读次数（按进程类型）"),
    name("io.writes", false, "Writes by kind of process", "写次数（按进程类型）"),
    name("temporary.written", true, "Temporary files: written", "临时文件写入"),
    name("log.written", true, "Log written", "日志写入"),
    name("log.writes", false, "Log: writes", "日志写次数"),
    name("log.write-time", false, "Log: time of writes", "日志写耗时"),
    name("log.sync-time", false, "Log: time of flushes", "日志刷盘耗时"),
    name("log.records", false, "Log: records", "日志记录数"),
    name("log.full-pages", false, "Log: full pages", "日志：全页写（full page writes）"),
    name("binlog.commits", false, "Binary log: commits", "binlog：提交"),
    name("binlog.group-commits", false, "Binary log: group commits", "binlog：组提交"),
    name("log.syncs", true, "Log: flushes", "日志刷盘"),
    name("log.waits", false, "Log: waits for its buffer", "日志缓冲等待"),
    name("log.size", true, "Log: size of the file", "日志文件大小"),
    name("checkpoint.age", true, "Checkpoint: age", "检查点年龄"),
    name("checkpoint.most-age", false, "Checkpoint: greatest age", "检查点年龄上限"),
    name("checkpoints.requested", true, "Checkpoints: requested", "检查点：被请求"),
    name("checkpoints.completed", true, "Checkpoints: completed", "检查点：完成"),
    name("checkpoints.timed", false, "Checkpoints: timed", "检查点：定时"),
    name("checkpoints.pages-written", false, "Checkpoints: pages written", "检查点：写出页"),
    name("checkpoints.write-time", false, "Checkpoints: time of writes", "检查点：写出耗时"),
    name("checkpoints.sync-time", false, "Checkpoints: time of flushes", "检查点：刷盘耗时"),
    name("locks.waiting", true, "Locks: waiting sessions", "锁：等待中的会话"),
    name("locks.blocked", true, "Locks: blocked sessions", "锁：被阻塞的会话"),
    name("locks.blocked.by-type", false, "Locks: blocked sessions by transaction type", "锁：被阻塞的会话（按事务类型）"),
    name("locks.blocked-by-others", false, "Locks: sessions blocked by others", "锁：被其他会话阻塞的会话"),
    name("locks.rows-blocked-by-others", false, "Locks: row locks that others hold against sessions", "锁：被其他会话的行锁阻塞的会话"),
    name("locks.longest-wait", false, "Locks: longest wait", "锁：最长等待"),
    name("locks.blocker-age", false, "Locks: oldest blocking transaction", "锁：阻塞者事务时长"),
    name("locks.waits", false, "Locks: waits", "锁：等待次数"),
    name("locks.wait-time", false, "Locks: time of waits", "锁：等待时间"),
    name("locks.blockers", false, "Locks: blocking sessions", "锁：阻塞者"),
    name("waits.time", true, "Waits: time by event", "等待事件：耗时（按事件）"),
    name("waits", false, "Waits: events", "等待事件：次数"),
    name("deadlocks", false, "Deadlocks", "死锁"),
    name("history.length", true, "Purge: history length", "清理滞后（history list）"),
    name("transactions.oldest", false, "Oldest transaction", "最久的事务"),
    name("transactions.held-back", false, "Transactions since the oldest snapshot", "自最早快照以来的事务数"),
    name("transactions.open", false, "Open transactions", "活跃事务"),
    name("rows.dead", false, "Dead rows", "死元组"),
    name("pages.spilled", false, "Pages: written early for want of cache", "缓存不足提前写出的页"),
    name("database.size", false, "Database file", "数据库文件大小"),
    name("tidb.statements", true, "TiDB: QPS by type", "TiDB：QPS（按类型）"),
    name("tidb.commands", false, "TiDB: commands per second", "TiDB：CPS（按命令）"),
    name("tidb.command-errors", true, "TiDB: failed commands", "TiDB：失败命令"),
    name("tidb.query-duration", true, "TiDB: query duration", "TiDB：Query 延迟"),
    name("tidb.query-duration.p99-approx", true, "TiDB: query duration, p99 (approximate)", "TiDB：Query 延迟 p99（近似）"),
    name("tidb.connection-idle", false, "TiDB: connection idle duration", "TiDB：连接空闲时间"),
    name("tidb.connections", false, "TiDB: connections", "TiDB：连接数"),
    name("tidb.active-sessions", false, "TiDB: active connections", "TiDB：活跃连接数"),
    name("tidb.get-token", false, "TiDB: get token", "TiDB：Get Token 延迟"),
    name("tidb.parse", false, "TiDB: parse", "TiDB：Parse 延迟"),
    name("tidb.compile", true, "TiDB: compile", "TiDB：Compile 延迟"),
    name("tidb.execute", true, "TiDB: execute", "TiDB：Execute 延迟"),
    name("tidb.transaction-duration", false, "TiDB: transaction duration", "TiDB：事务延迟"),
    name("tidb.kv-request", true, "TiDB: KV request duration", "TiDB：KV 请求延迟"),
    name("tidb.backoff", false, "TiDB: KV backoff", "TiDB：KV Backoff"),
    name("tidb.lock-keys", false, "TiDB: pessimistic locks", "TiDB：悲观锁加锁"),
    name("tidb.tso-wait", true, "TiDB: TSO wait", "TiDB：TSO 等待"),
    name("tidb.tso-rpc", false, "TiDB: TSO RPC", "TiDB：TSO RPC 延迟"),
    name("tidb.plan-cache-hits", false, "TiDB: plan cache hits", "TiDB：执行计划缓存命中"),
    name("tidb.cpu", true, "TiDB: CPU", "TiDB：CPU"),
    name("tidb.memory", false, "TiDB: memory", "TiDB：内存"),
    name("tikv.cpu", true, "TiKV: CPU", "TiKV：CPU"),
    name("tikv.thread-cpu", true, "TiKV: thread CPU", "TiKV：线程 CPU"),
    name("tikv.grpc.rate", true, "TiKV: gRPC message count", "TiKV：gRPC 消息数"),
    name("tikv.grpc", false, "TiKV: gRPC message duration", "TiKV：gRPC 消息延迟"),
    name("tikv.append-log", true, "TiKV: append log", "TiKV：Append Log 延迟"),
    name("tikv.append-log.p99-approx", false, "TiKV: append log, p99 (approximate)", "TiKV：Append Log 延迟 p99（近似）"),
    name("tikv.commit-log", true, "TiKV: commit log", "TiKV：Commit Log 延迟"),
    name("tikv.commit-log.p99-approx", false, "TiKV: commit log, p99 (approximate)", "TiKV：Commit Log 延迟 p99（近似）"),
    name("tikv.apply-log", true, "TiKV: apply log", "TiKV：Apply Log 延迟"),
    name("tikv.apply-log.p99-approx", false, "TiKV: apply log, p99 (approximate)", "TiKV：Apply Log 延迟 p99（近似）"),
    name("tikv.propose-wait", false, "TiKV: propose wait", "TiKV：Propose Wait"),
    name("tikv.apply-wait", false, "TiKV: apply wait", "TiKV：Apply Wait"),
    name("tikv.raft-engine-write", false, "TiKV: Raft Engine write", "TiKV：Raft Engine 写入"),
    name("tikv.raft-engine-sync", true, "TiKV: Raft Engine log sync", "TiKV：Raft Engine 日志 sync"),
    name("tikv.waterfall", false, "TiKV: write waterfall", "TiKV：写入瀑布（waterfall）"),
    name("tikv.latch-wait", false, "TiKV: scheduler latch wait", "TiKV：Scheduler latch 等待"),
    name("tikv.scheduler-command", false, "TiKV: scheduler command duration", "TiKV：Scheduler 命令延迟"),
    name("tikv.async-request", false, "TiKV: storage async request", "TiKV：Storage async 请求延迟"),
    name("tikv.coprocessor", false, "TiKV: coprocessor request duration", "TiKV：Coprocessor 请求延迟"),
    name("tikv.coprocessor-wait", false, "TiKV: coprocessor wait", "TiKV：Coprocessor 等待"),
    name("tikv.block-cache", false, "TiKV: block cache", "TiKV：Block Cache 访问"),
    name("tikv.engine-flow", false, "TiKV: RocksDB flow", "TiKV：RocksDB 流量"),
    name("tikv.compaction-flow", false, "TiKV: compaction flow", "TiKV：Compaction 流量"),
    name("tikv.write-stall", true, "TiKV: write stall", "TiKV：Write Stall"),
    name("tikv.level0-files", false, "TiKV: level-0 files", "TiKV：L0 文件数"),
    name("tikv.size", false, "TiKV: size", "TiKV：存储大小"),
    name("tikv.regions", false, "TiKV: regions", "TiKV：Region 数"),
    name("tikv.memory", false, "TiKV: memory", "TiKV：内存"),
    name("pd.cpu", false, "PD: CPU", "PD：CPU"),
    name("pd.memory", false, "PD: memory", "PD：内存"),
    name("pd.grpc", false, "PD: gRPC duration", "PD：gRPC 延迟"),
    name("pd.tso-handle", true, "PD: TSO handling", "PD：TSO 处理延迟"),
    name("pd.etcd-sync", false, "PD: etcd WAL sync", "PD：etcd WAL sync"),
    name("pd.hot-regions", true, "PD: hot regions", "PD：热点 Region"),
    name("pd.regions", false, "PD: regions", "PD：Region 状态"),
    name("pd.operators", false, "PD: schedule operators", "PD：调度 Operator"),
    name("cockroach.statements", true, "CockroachDB: SQL statements", "CockroachDB：SQL 语句"),
    name("cockroach.transactions", false, "CockroachDB: transactions", "CockroachDB：事务"),
    name("cockroach.restarts", true, "CockroachDB: transaction restarts", "CockroachDB：事务重启"),
    name("cockroach.failures", false, "CockroachDB: statement errors", "CockroachDB：语句错误"),
    name("cockroach.service-latency", true, "CockroachDB: service latency", "CockroachDB：服务延迟"),
    name("cockroach.service-latency.p99-approx", true, "CockroachDB: service latency, p99 (approximate)", "CockroachDB：服务延迟 p99（近似）"),
    name("cockroach.exec-latency", false, "CockroachDB: execution latency", "CockroachDB：执行延迟"),
    name("cockroach.kv-latency", false, "CockroachDB: KV execution latency", "CockroachDB：KV 执行延迟"),
    name("cockroach.log-commit", true, "CockroachDB: Raft log commit latency", "CockroachDB：Raft 日志提交延迟"),
    name("cockroach.command-commit", false, "CockroachDB: command commit latency", "CockroachDB：命令提交延迟"),
    name("cockroach.wal-sync", true, "CockroachDB: WAL fsync latency", "CockroachDB：WAL fsync 延迟"),
    name("cockroach.admission-wait", true, "CockroachDB: admission wait", "CockroachDB：准入控制等待"),
    name("cockroach.io-overload", false, "CockroachDB: I/O overload", "CockroachDB：I/O 过载"),
    name("cockroach.cpu", true, "CockroachDB: CPU", "CockroachDB：CPU"),
    name("cockroach.cpu-share", false, "CockroachDB: share of the CPU", "CockroachDB：CPU 占比"),
    name("cockroach.level0-sublevels", true, "CockroachDB: L0 sublevels", "CockroachDB：L0 子层数"),
    name("cockroach.level0-files", false, "CockroachDB: L0 files", "CockroachDB：L0 文件数"),
    name("cockroach.read-amplification", false, "CockroachDB: read amplification", "CockroachDB：读放大"),
    name("yugabyte.ysql.rate", true, "YugabyteDB: YSQL statements", "YugabyteDB：YSQL 语句"),
    name("yugabyte.ysql", true, "YugabyteDB: YSQL latency", "YugabyteDB：YSQL 延迟"),
    name("yugabyte.read", true, "YugabyteDB: tablet read latency", "YugabyteDB：tablet 读延迟"),
    name("yugabyte.read.rate", false, "YugabyteDB: tablet reads", "YugabyteDB：tablet 读次数"),
    name("yugabyte.write", true, "YugabyteDB: tablet write latency", "YugabyteDB：tablet 写延迟"),
    name("yugabyte.write.rate", false, "YugabyteDB: tablet writes", "YugabyteDB：tablet 写次数"),
    name("yugabyte.perform", false, "YugabyteDB: Perform latency", "YugabyteDB：Perform 延迟"),
    name("yugabyte.update-consensus", false, "YugabyteDB: Raft replication latency", "YugabyteDB：Raft 复制延迟"),
    name("yugabyte.rpc-queue", false, "YugabyteDB: RPC queue time", "YugabyteDB：RPC 排队时间"),
    name("yugabyte.log-append", true, "YugabyteDB: WAL append latency", "YugabyteDB：WAL 追加延迟"),
    name("yugabyte.log-sync", true, "YugabyteDB: WAL sync latency", "YugabyteDB：WAL sync 延迟"),
    name("yugabyte.log-group-commit", false, "YugabyteDB: WAL group commit latency", "YugabyteDB：WAL 组提交延迟"),
    name("yugabyte.rejections", true, "YugabyteDB: rejected writes", "YugabyteDB：被拒绝的写入"),
    name("yugabyte.conflicts", false, "YugabyteDB: transaction conflicts", "YugabyteDB：事务冲突"),
    name("yugabyte.cpu", true, "YugabyteDB: CPU", "YugabyteDB：CPU"),
    name("yugabyte.spinlock", false, "YugabyteDB: spinlock contention", "YugabyteDB：自旋锁争用"),
    name("yugabyte.stalls", false, "YugabyteDB: RocksDB stalls", "YugabyteDB：RocksDB 停顿"),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// What the database and its host are asked for has a name in both languages; of the nodes of clusters
    /// some have only the names that their makers gave them.
    #[test]
    fn every_metric_of_a_server_has_a_name() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../observe/src/server");
        let mut found = 0;
        for file in std::fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            if !path.is_file() {
                continue;
            }
            let source = std::fs::read_to_string(&path).unwrap();
            let source = source.split("#[cfg(test)]").next().unwrap();
            for made in ["count(", "bytes(", "gauge(", "total(", "time(", "MS("] {
                for behind in source.split(made).skip(1) {
                    let Some(text) = behind.trim_start().strip_prefix('"') else {
                        continue;
                    };
                    let text = text.split('"').next().unwrap();
                    let known = SERIES_NAMES.iter().find(|n| n.name == text);
                    assert!(known.is_some_and(|n| !n.zh.is_ascii()), "{text}: {path:?}");
                    found += 1;
                }
            }
        }
        assert!(found > 60, "{found}");
    }
}
