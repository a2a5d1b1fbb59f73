-- role_differences: what a role has too little or too much of for its kind.
-- params: kind:text role:text
-- columns: object:text privilege:text difference:text
-- only: postgres
SELECT object, privilege, difference FROM pawl.privilege_differences($1, $2::name);
