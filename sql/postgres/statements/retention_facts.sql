-- retention_facts: deletes a subject's events that are older than an instant, except its newest.
-- params: subject:id before_ms:int
-- columns: -
DELETE FROM pawl.facts WHERE subject = $1 AND at_ms < $2 AND seq < (SELECT max(e.seq) FROM pawl.facts e WHERE e.subject = $1);
