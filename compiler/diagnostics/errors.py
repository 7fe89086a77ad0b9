"""The exceptions that callers of the library meet; each has its exit code.

The exit codes are a stable contract: 0 done, 1 the input is wrong or the work failed,
2 changes found (only with --detailed-exitcode), 3 a target could not be reached, 4 the
saved plan no longer matches the world, 64 wrong usage, 130 interrupted.
"""

from __future__ import annotations

from collections.abc import Sequence

from compiler.diagnostics.record import Diagnostic


class TriplaneError(Exception):
    """Base of all expected failures: a message for people, never a traceback."""

    exit_code = 1

    def __init__(self, message: str, *, diagnostics: Sequence[Diagnostic] = ()) -> None:
        super().__init__(message)
        self.diagnostics: tuple[Diagnostic, ...] = tuple(diagnostics)


class InvalidInput(TriplaneError):
    """The input has errors; all of them are in `diagnostics`. Nothing was written."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        count = sum(item.severity == "error" for item in diagnostics)
        super().__init__(f"{count} error{'s' * (count != 1)}", diagnostics=diagnostics)


class WorkFailed(TriplaneError):
    """A target refused or failed what was asked of it."""


class LockHeld(TriplaneError):
    """Another apply of the same stack holds the lock."""


class TargetUnreachable(TriplaneError):
    """A target did not answer; `target` is its key in the stack."""

    exit_code = 3

    def __init__(self, target: str, reason: str) -> None:
        super().__init__(f"{target}: {reason}")
        self.target = target
        self.reason = reason


class PlanOutdated(TriplaneError):
    """The saved plan no longer matches inputs or live state; `moved` says what changed."""

    exit_code = 4

    def __init__(self, moved: Sequence[str]) -> None:
        super().__init__("the saved plan no longer matches: " + "; ".join(moved))
        self.moved = tuple(moved)


class WrongUsage(TriplaneError):
    """The command line (or the call) does not make sense, whatever the files say."""

    exit_code = 64
