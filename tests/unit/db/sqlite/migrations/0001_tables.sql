-- SPDX-License-Identifier: Apache-2.0
-- Tables for the tests of the database port.
CREATE TABLE kinds (
  id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16), -- a comment; with a semicolon
  n INTEGER,
  t TEXT,
  b BLOB,
  r REAL
) STRICT, WITHOUT ROWID;
CREATE TABLE counters (name TEXT NOT NULL PRIMARY KEY, value INTEGER NOT NULL, CONSTRAINT counter_is_small CHECK (value < 1000000)) STRICT;
