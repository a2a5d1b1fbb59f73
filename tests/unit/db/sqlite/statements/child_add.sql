-- child_add: adds a row that needs a counter.
-- params: name:text
-- columns: -
INSERT INTO children (name) VALUES (?1);
