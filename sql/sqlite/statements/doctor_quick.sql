-- doctor_quick: the engine's own check of the file: "ok", or what is wrong.
-- params: -
-- columns: text:text
-- only: sqlite
SELECT quick_check FROM pragma_quick_check(10);
