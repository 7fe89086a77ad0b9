"""How much input is accepted. Far above anything people write, far below what hurts."""

MAX_FILE_BYTES = 4 * 1024 * 1024
MAX_DEPTH = 100
"""Levels of maps and lists inside each other, aliases followed."""
MAX_FILE_NODES = 250_000
"""Keys and values written in one file (a node with positions takes about 500 bytes)."""
MAX_DOCUMENT_VALUES = 200_000
"""Values of one document once its aliases and merges are expanded."""
MAX_DOCUMENTS = 10_000
MAX_NUMBER_LENGTH = 300
"""Characters of a number; longer ones cost more than linear time to convert."""
MAX_FINDINGS = 100
"""Errors, and likewise warnings, that one stage reports about one document."""
MAX_RECOVERIES = 20
"""Documents with a syntax error after which reading goes on at the next `---`."""
