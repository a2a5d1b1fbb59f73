-- doctor_durability: the journal, and how hard a commit is written: 2 is FULL.
-- params: -
-- columns: journal:text level:int
-- only: sqlite
SELECT j.journal_mode, s.synchronous FROM pragma_journal_mode j, pragma_synchronous s;
