-- short_id: an id of three bytes.
-- params: -
-- columns: id:id
SELECT '\x010203'::bytea;
