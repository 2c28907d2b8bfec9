-- One row a run. `record` holds the whole run record as JSON, without its intervals.
CREATE TABLE run (
  id               TEXT PRIMARY KEY NOT NULL,
  schema_version   INTEGER NOT NULL,  -- of `record`
  tidemark_version TEXT NOT NULL,
  started_at       TEXT NOT NULL,     -- RFC 3339, UTC
  state            TEXT NOT NULL,     -- running, finished, interrupted, failed
  reason           TEXT,              -- why it failed
  workload         TEXT NOT NULL,
  target           TEXT NOT NULL,     -- URL, password as ***
  engine           TEXT,              -- mysql, mariadb, tidb, postgres, yugabyte, cockroach, sqlite
  engine_version   TEXT,
  sessions         INTEGER NOT NULL,
  rate             REAL,              -- arrivals a second; NULL in closed loop
  elapsed_s        REAL,              -- of the measurement; these six are NULL until the end
  transactions     INTEGER,
  transactions_per_s REAL,
  p50_ms           REAL,              -- response times in open loop, service times else
  p95_ms           REAL,
  p99_ms           REAL,
  hostname         TEXT NOT NULL,     -- the process that made the load, to see whether it lives
  boot_id          TEXT,              -- and its process namespace
  pid              INTEGER,
  pid_started      TEXT,
  begun_ms         INTEGER NOT NULL,  -- when this row was made, Unix milliseconds
  record           TEXT NOT NULL
) STRICT;
CREATE INDEX run_by_start ON run (started_at);

-- One row an interval. `detail` holds the whole interval as JSON, latency histograms included.
CREATE TABLE interval (
  run_id         TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  seq            INTEGER NOT NULL,    -- from 0
  start_ms       INTEGER NOT NULL,    -- from the start of the measurement; negative in warm-up
  length_ms      REAL NOT NULL,
  phase          TEXT NOT NULL,       -- warmup, measure
  sessions       INTEGER NOT NULL,    -- connected at its end
  transactions   INTEGER NOT NULL,
  "read"         INTEGER NOT NULL,    -- statements that returned rows
  "write"        INTEGER NOT NULL,    -- statements that changed rows
  other          INTEGER NOT NULL,    -- all other statements
  ignored_errors INTEGER NOT NULL,
  reconnects     INTEGER NOT NULL,
  queue_length   INTEGER NOT NULL,
  concurrency    INTEGER NOT NULL,
  p50_ms         REAL,                -- response times in open loop, service times else
  p95_ms         REAL,
  p99_ms         REAL,
  written_ms     INTEGER NOT NULL,    -- Unix milliseconds
  detail         TEXT NOT NULL,
  PRIMARY KEY (run_id, seq)
) STRICT;
