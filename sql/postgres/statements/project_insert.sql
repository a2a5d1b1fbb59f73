-- project_insert: makes a project; one of that name that exists is left alone.
-- params: project:id name:text
-- columns: -
INSERT INTO pawl.projects (id, name, updated_at_ms) VALUES ($1, $2, pawl.now_ms()) ON CONFLICT (name) DO NOTHING;
