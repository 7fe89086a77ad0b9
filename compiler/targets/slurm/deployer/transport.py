"""Running a snippet of bash on a login node, however that is reached.

A snippet, its arguments and its data all go to the standard input of one `bash -s`. So the
command that the user's login shell sees is always the same four words, whatever that shell
is, arguments and data never show in a process list, and secrets travel as data.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from compiler.targets.interface import Streams

_SUDO = ("sudo", "-n", "-H", "-u")

# What login scripts print stands before this line.
_MARK = b"--triplane--\n"

Data = bytes | Iterable[bytes]


@dataclass(frozen=True, slots=True)
class Result:
    """What a snippet gave: its output, its words on stderr, its exit code."""

    stdout: bytes
    stderr: str
    code: int

    @property
    def text(self) -> str:
        return self.stdout.decode("utf-8", "replace")


class Transport(Protocol):
    """One login node. Raises TargetUnreachable where it cannot be reached or is lost."""

    def run(self, script: str, *args: str, data: Data = b"") -> Result:
        """Run `script` with `args` as its positional parameters and `data` on its stdin."""

    def attach(self, script: str, streams: Streams) -> int:
        """Run the script at that path of the login node, connected to `streams`; its exit code."""

    def close(self) -> None: ...


def command(*words: str, account: str | None = None) -> str:
    """What the login shell, whichever it is, is told to become."""
    return shlex.join(("exec", *as_account(account), *words))


def as_account(account: str | None) -> tuple[str, ...]:
    """The words before a command that is to run as another account."""
    return () if account is None else (*_SUDO, account, "--")


def framed(script: str, args: Iterable[str], data: Data) -> Iterator[bytes]:
    """The bytes for `bash -s`.

    Bash reads a script from a pipe byte by byte and a group in braces as a whole before it
    runs any of it: what is cut off does nothing, and what follows the group is left on stdin.
    """
    words = " ".join(shlex.quote(arg) for arg in args)
    mark = _MARK.decode().strip()
    yield f"{{\nset -- {words}\necho {mark}\n{script}\nexit\n}}\n".encode()
    if isinstance(data, bytes):
        yield data
    else:
        yield from data


def unframed(stdout: bytes, stderr: bytes, code: int) -> Result | None:
    """The result without what login scripts printed; None if the snippet never began."""
    _, mark, after = stdout.partition(_MARK)
    if not mark:
        return None
    return Result(after, stderr.decode("utf-8", "replace").strip(), code)


def not_started(stdout: bytes, stderr: bytes, code: int) -> str:
    """Why a login shell did not get to the snippet, for TargetUnreachable."""
    words = (stderr.strip() or stdout.strip()).decode("utf-8", "replace")
    last = words.splitlines()[-1] if words else f"it ended with exit code {code}"
    return f"the login shell did not start bash: {last}"


def feed(write: Callable[[bytes], object], finish: Callable[[], object], data: Data) -> None:
    """Send everything; a reader that has gone away says why by its exit code."""
    try:
        for chunk in [data] if isinstance(data, bytes) else data:
            if chunk:
                write(chunk)
        finish()
    except OSError:
        return
