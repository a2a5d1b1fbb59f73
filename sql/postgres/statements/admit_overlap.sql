-- admit_overlap: unfinished trigger-born runs of tasks: held by a worker, and not. The tasks' gates are held.
-- params: task:id
-- columns: task:id active:int waiting:int
-- many: yes
SELECT v.ord, v.task_id, (SELECT count(*) FROM pawl.leased l WHERE l.task_id = v.task_id AND l.trigger_born),
  (SELECT count(*) FROM pawl.ready r WHERE r.task_id = v.task_id AND r.trigger_born)
  + (SELECT count(*) FROM pawl.parked k WHERE k.task_id = v.task_id AND k.trigger_born)
FROM unnest($1::uuid[]) WITH ORDINALITY AS v(task_id, ord)
ORDER BY v.ord;
