-- SPDX-License-Identifier: Apache-2.0
-- step: a number of a transaction; part: counts its rows.
CREATE TABLE pawl.steps (step bigint NOT NULL, part bigint NOT NULL, bytes bytea NOT NULL, PRIMARY KEY (step, part));
CREATE TABLE pawl.children (name text NOT NULL REFERENCES pawl.counters (name) DEFERRABLE INITIALLY IMMEDIATE);
CREATE FUNCTION pawl.now_ms() RETURNS bigint LANGUAGE sql VOLATILE AS $$
  SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint $$;
-- last_names: what is wrong is found at the COMMIT.
CREATE TABLE pawl.last_names (name text UNIQUE DEFERRABLE INITIALLY DEFERRED);
CREATE FUNCTION pawl.make_counter(name text) RETURNS bigint LANGUAGE sql VOLATILE
AS $$ INSERT INTO pawl.counters VALUES (name, 1); SELECT (current_setting('synchronous_commit') = 'on')::int::bigint $$;
