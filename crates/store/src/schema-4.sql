-- One row a series and a stretch of a run: what was given beside the load. `detail` holds the whole
-- piece as JSON, with its points.
CREATE TABLE series (
  run_id  TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  source  TEXT NOT NULL,     -- client-host
  chunk   INTEGER NOT NULL,  -- the stretch, from 0; of a minute or several
  place   INTEGER NOT NULL,  -- in the stretch
  name    TEXT NOT NULL,
  unit    TEXT NOT NULL,
  labels  TEXT NOT NULL,     -- a JSON object
  points  INTEGER NOT NULL,
  mean    REAL,              -- of the points; these three are NULL where they can't be read
  min     REAL,
  max     REAL,
  detail  TEXT NOT NULL,
  PRIMARY KEY (run_id, source, chunk, place)
) STRICT;
