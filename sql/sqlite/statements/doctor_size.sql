-- doctor_size: bytes of the store.
-- params: -
-- columns: bytes:int
SELECT c.page_count * s.page_size FROM pragma_page_count c, pragma_page_size s;
