"""Paths that are no files: a pipe, a device, a socket. Reading one of them may never end."""

from __future__ import annotations

import os
import stat

_kinds = (
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)


def special_kind(path: str | os.PathLike[str]) -> str | None:
    """What the path is, in words, if it is neither a file nor a folder; None for those.

    A pipe that somebody has opened for us (`<(command)` of a shell, `/dev/stdin`) has no name
    in a file system and is read like a file. Raises OSError where there is nothing.
    """
    mode = os.stat(path).st_mode  # noqa: PTH116 (pathlib raises for overlong names)
    kind = next((name for matches, name in _kinds if matches(mode)), None)
    if kind and stat.S_ISFIFO(mode) and not os.path.exists(os.path.realpath(path)):  # noqa: PTH110
        return None
    return kind
