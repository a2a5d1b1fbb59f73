-- SPDX-License-Identifier: Apache-2.0
-- Tables for the tests of the database port.
DROP SCHEMA IF EXISTS pawl CASCADE;
CREATE SCHEMA pawl;
CREATE TABLE pawl.kinds (id uuid NOT NULL PRIMARY KEY, n bigint, t text, b bytea, r float8);
CREATE TABLE pawl.counters (name text NOT NULL PRIMARY KEY, value bigint NOT NULL, CONSTRAINT counter_is_small CHECK (value < 1000000));
