-- role_grant: makes a role what its kind says, and returns what could not be changed.
-- params: kind:text role:text
-- columns: object:text privilege:text difference:text
-- only: postgres
SELECT object, privilege, difference FROM pawl.grant_role($1, $2::name);
