"""Everything the program has to say about its input: spans, records, codes, renderers.

The first stage of the pipeline: it imports nothing else of the project.
"""

from compiler.diagnostics.code import Code, Severity, all_codes
from compiler.diagnostics.collector import Diagnostics
from compiler.diagnostics.errors import (
    InvalidInput,
    LockHeld,
    PlanOutdated,
    TargetUnreachable,
    TriplaneError,
    WorkFailed,
    WrongUsage,
)
from compiler.diagnostics.record import Diagnostic, Related
from compiler.diagnostics.span import SourceText, Span

__all__ = [
    "Code",
    "Diagnostic",
    "Diagnostics",
    "InvalidInput",
    "LockHeld",
    "PlanOutdated",
    "Related",
    "Severity",
    "SourceText",
    "Span",
    "TargetUnreachable",
    "TriplaneError",
    "WorkFailed",
    "WrongUsage",
    "all_codes",
]
