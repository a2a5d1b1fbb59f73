-- short_id: an id of three bytes.
-- params: -
-- columns: id:id
SELECT x'010203';
