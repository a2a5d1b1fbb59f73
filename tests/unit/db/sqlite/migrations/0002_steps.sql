-- SPDX-License-Identifier: Apache-2.0
-- step: a number of a transaction; part: counts its rows.
CREATE TABLE steps (step INTEGER NOT NULL, part INTEGER NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (step, part)) STRICT, WITHOUT ROWID;
CREATE TABLE children (name TEXT NOT NULL REFERENCES counters (name)) STRICT;
CREATE VIEW v_now AS SELECT pawl_now_ms() AS now_ms;
