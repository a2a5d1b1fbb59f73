-- publish_pools: the pools of a project, deleted ones too, in lock order.
-- params: project:id
-- columns: pool:id name:text owner_mark:text? slots:int slots_override:int? state:text
SELECT id, name, owner_mark, slots, slots_override, state FROM pawl.pools WHERE project_id = $1 ORDER BY id;
