-- pools_list: pools with what is used of them. order: by project and name.
-- params: -
-- columns: project:text name:text state:text slots:int slots_override:int? used:int waiting:int
SELECT p.name, o.name, o.state, o.slots, o.slots_override,
  coalesce((SELECT sum(l.slots) FROM pawl.leased l WHERE l.pool_id = o.id), 0), (SELECT count(*) FROM pawl.ready r WHERE r.pool_id = o.id)
FROM pawl.pools o JOIN pawl.projects p ON p.id = o.project_id WHERE o.state <> 'deleted' ORDER BY p.name, o.name;
