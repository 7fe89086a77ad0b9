"""Running the `__main__.py` of a rendered folder inside this process.

The Automation API wants a function; this one is the folder's own program, so that what the
engine runs is what was rendered. The folder is on the module path only while it runs.
"""

from __future__ import annotations

import runpy
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

# Module names of a program are the same in every folder: one program at a time.
_RUNNING = threading.RLock()


def program_of(folder: Path) -> Callable[[], None]:
    """The function that runs the folder's program."""

    def program() -> None:
        runpy.run_path(str(folder / "__main__.py"))

    return program


@contextmanager
def importable(folder: Path) -> Iterator[None]:
    """Lets the program import the packages beside it, and forgets them afterwards."""
    names = {path.name for path in folder.iterdir() if (path / "__init__.py").is_file()}

    def forget() -> None:
        for name in [name for name in sys.modules if name.partition(".")[0] in names]:
            del sys.modules[name]

    with _RUNNING:
        forget()
        sys.path.insert(0, str(folder))
        written, sys.dont_write_bytecode = sys.dont_write_bytecode, True
        try:
            yield
        finally:
            sys.dont_write_bytecode = written
            sys.path.remove(str(folder))
            forget()
