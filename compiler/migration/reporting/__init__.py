"""Reports of migrations: for people (text, markdown, HTML) and for programs (JSON)."""
