-- role_make: makes a role for a kind; it has no rights yet.
-- params: kind:text role:text
-- columns: made:int
-- only: postgres
SELECT pawl.make_role($1, $2::name)::int;
