-- recover_drift: hot rows without a run, with a finished one, or in two tables.
-- params: limit:int
-- columns: run:id place:text why:text
SELECT h.run_id, h.place, CASE WHEN r.id IS NULL THEN 'its run is missing' WHEN a.run_id IS NOT NULL THEN 'its run has ended' ELSE 'it stands in two hot tables' END
FROM (SELECT run_id, 'ready' AS place FROM pawl.ready UNION ALL SELECT run_id, 'parked' FROM pawl.parked WHERE reason <> 'manual' UNION ALL SELECT run_id, 'leased' FROM pawl.leased) h
LEFT JOIN pawl.runs r ON r.id = h.run_id
LEFT JOIN pawl.attempts a ON a.run_id = h.run_id AND a.last
WHERE r.id IS NULL OR a.run_id IS NOT NULL
  OR (h.place <> 'leased' AND EXISTS (SELECT 1 FROM pawl.leased l WHERE l.run_id = h.run_id))
  OR (h.place = 'ready' AND EXISTS (SELECT 1 FROM pawl.parked k WHERE k.run_id = h.run_id))
LIMIT $1;
