-- child_add: adds a row that needs a counter.
-- params: name:text
-- columns: -
INSERT INTO pawl.children (name) VALUES ($1);
