-- Settings that a server changed by itself when a study changed another one.
ALTER TABLE study_setting ADD COLUMN moved_by TEXT;  -- that other one; NULL: the study asked for it
-- The server's other settings (a JSON object), from before the change until what moved with it has
-- rows of its own: whoever finds it here was killed in between.
ALTER TABLE study_setting ADD COLUMN snapshot TEXT;
