-- fact_append: appends an event to a subject that is no run: a task, trigger or pool.
-- params: subject:id kind:text data:text?
-- columns: -
INSERT INTO pawl.facts (subject, at_ms, kind, data) VALUES ($1, pawl.now_ms(), $2, $3);
