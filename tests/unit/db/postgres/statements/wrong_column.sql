-- wrong_column: declares an int and gives text for the number 2.
-- params: -
-- columns: n:int
SELECT 'two';
