"""Text to documents with positions; schema validation; "did you mean"."""

from compiler.source.discovery import discover, read_paths
from compiler.source.document import Document, Kind
from compiler.source.kinds import Unit, detect
from compiler.source.paths import Path, dotted
from compiler.source.reading import read_file, read_stdin, read_text
from compiler.source.suggestions import suggest

__all__ = [
    "Document",
    "Kind",
    "Path",
    "Unit",
    "detect",
    "discover",
    "dotted",
    "read_file",
    "read_paths",
    "read_stdin",
    "read_text",
    "suggest",
]
