-- schedules_lock: takes the schedule rows of triggers, in the order of their ids.
-- params: trigger:id
-- columns: -
-- only: postgres
-- many: yes
SELECT v.ord
FROM unnest($1::uuid[]) WITH ORDINALITY AS v(trigger_id, ord)
JOIN pawl.trigger_schedules s ON s.trigger_id = v.trigger_id
ORDER BY s.trigger_id
FOR NO KEY UPDATE OF s;
