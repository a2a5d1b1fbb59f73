-- last_name_add: adds a name; that there is one already is found at the end.
-- params: name:text
-- columns: -
-- only: postgres
INSERT INTO pawl.last_names (name) VALUES ($1);
