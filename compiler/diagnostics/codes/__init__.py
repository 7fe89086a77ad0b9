"""All diagnostic codes, one module an area; `all_codes()` loads every module here."""
