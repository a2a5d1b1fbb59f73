-- recover_still: whether a row is drifted as it was found, all hot rows of its run being held; a later statement than the one that took them.
-- params: run:id place:text locked:int
-- columns: drifted:int
-- only: postgres
WITH h AS MATERIALIZED (
  SELECT 'ready' AS place FROM pawl.ready WHERE run_id = $1
  UNION ALL SELECT 'parked' FROM pawl.parked WHERE run_id = $1 AND reason <> 'manual'
  UNION ALL SELECT 'leased' FROM pawl.leased WHERE run_id = $1),
hot AS MATERIALIZED (SELECT count(*) AS n FROM h),
manual AS MATERIALIZED (SELECT count(*) AS n FROM pawl.parked WHERE run_id = $1 AND reason = 'manual')
SELECT (SELECT n FROM hot) + (SELECT n FROM manual) = $3
  AND CASE WHEN $2 = '' THEN $3 = 0 AND NOT EXISTS (SELECT 1 FROM pawl.attempts a WHERE a.run_id = $1 AND a.last)
    ELSE EXISTS (SELECT 1 FROM h WHERE place = $2)
      AND ($3 > 1 OR NOT EXISTS (SELECT 1 FROM pawl.runs r WHERE r.id = $1)
        OR EXISTS (SELECT 1 FROM pawl.attempts a WHERE a.run_id = $1 AND a.last)) END;
