-- Where a run stands in a study (NULL for a run of its own), and what its user says of it. These
-- columns and table `tag` are what counts; the record of an exported run gets them when it is read.
ALTER TABLE run ADD COLUMN study  TEXT;     -- the id of the study's execution, as in `study`
ALTER TABLE run ADD COLUMN cell   TEXT;     -- the cell of its matrix
ALTER TABLE run ADD COLUMN repeat INTEGER;  -- which repeat of the cell, from 1
ALTER TABLE run ADD COLUMN note   TEXT NOT NULL DEFAULT '';
CREATE INDEX run_by_study ON run (study, cell, repeat) WHERE study IS NOT NULL;

CREATE TABLE tag (
  run_id TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  tag    TEXT NOT NULL,
  PRIMARY KEY (run_id, tag)
) STRICT, WITHOUT ROWID;
CREATE INDEX tag_by_name ON tag (tag);

-- One row for each execution of a study.
CREATE TABLE study (
  id          TEXT PRIMARY KEY NOT NULL,
  name        TEXT NOT NULL,
  path        TEXT NOT NULL,          -- of its file
  file        TEXT NOT NULL,          -- the file's text, passwords as ***
  folder      TEXT NOT NULL,          -- in which its commands are executed
  hostname    TEXT NOT NULL,          -- the process that executes it, as in `run`
  boot_id     TEXT,
  pid         INTEGER,
  pid_started TEXT,
  begun_ms    INTEGER NOT NULL,       -- Unix milliseconds
  ended_ms    INTEGER                 -- NULL while something is left to do
) STRICT;

-- One row for each step of a study, in the order in which they are taken.
CREATE TABLE study_step (
  study    TEXT NOT NULL REFERENCES study (id) ON DELETE CASCADE,
  seq      INTEGER NOT NULL,          -- from 0
  kind     TEXT NOT NULL,             -- load, run, …
  cell     TEXT NOT NULL,             -- what it is called by: a cell of the matrix, or data that is loaded
  repeat   INTEGER NOT NULL,
  command  TEXT NOT NULL,             -- JSON array of words, passwords as ***
  state    TEXT NOT NULL,             -- waiting, going-on, done, failed, skipped
  reason   TEXT,                      -- why it failed or was skipped
  run_id   TEXT,                      -- the run that it made; no reference: a run may be deleted
  output   TEXT NOT NULL DEFAULT '',  -- what the command printed
  begun_ms INTEGER,
  ended_ms INTEGER,
  PRIMARY KEY (study, seq)
) STRICT;

-- Settings of servers that a study changes for a step. A row is written before its setting is
-- changed and deleted when it is as before: what is left after a crash is to be restored.
CREATE TABLE study_setting (
  study      TEXT NOT NULL REFERENCES study (id) ON DELETE CASCADE,
  target     TEXT NOT NULL,           -- the target's name in the study's file
  name       TEXT NOT NULL,
  before     TEXT,                    -- its value; NULL: the server's own default or files decided
  changed_to TEXT NOT NULL,
  changed_ms INTEGER NOT NULL,
  server     TEXT NOT NULL,           -- host and port, or socket
  PRIMARY KEY (study, target, name)
) STRICT;
