"""What a shell offers behind TAB: stacks, targets and names of works, from what lies at hand.

No target is asked and nothing that plans is imported, as somebody waits with a finger on a key.
Names of works are those of records beside the stack, those that a command saw last, and those of
the tasks in the set's inputs; where a file cannot be read, nothing is offered.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

_NAME = re.compile(r"^name:[ \t]*([\"']?)([A-Za-z0-9._-]+)\1[ \t]*(?:#.*)?$", re.MULTILINE)
_MOST_FILES = 500


def complete_stacks(ctx: Any, param: Any, incomplete: str) -> list[str]:
    """YAML files that can be a stack: below `stacks/`, and where the typed path leads."""
    folder = incomplete.rpartition("/")[0] if "/" in incomplete else "."
    found: set[str] = set()
    for place in dict.fromkeys(("stacks", folder)):
        with contextlib.suppress(OSError):
            for path in Path(place).iterdir():
                if path.is_dir():
                    found.add(f"{path}/")
                elif path.suffix in (".yaml", ".yml"):
                    found.add(str(path))
    return sorted(item for item in found if item.startswith(incomplete))


def complete_targets(ctx: Any, param: Any, incomplete: str) -> list[str]:
    """The targets of the stack that the command line names so far."""
    stack = _stack_of(ctx)
    targets = stack[1].get("targets") if stack else None
    return _offered(targets if isinstance(targets, dict) else (), incomplete)


def complete_works(ctx: Any, param: Any, incomplete: str) -> list[str]:
    """Names of works: what runs, as far as it was seen, and what the set wants."""
    stack = _stack_of(ctx)
    if stack is None:
        return []
    path, body = stack
    return _offered({*_remembered(path), *_recorded(path, body), *_wanted(path, body)}, incomplete)


def remember(stack_path: str, names: Iterable[str]) -> None:
    """Keep the names of live works that a command saw, for the next TAB; nothing depends on it."""
    place = _memory_of(stack_path)
    with contextlib.suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("".join(f"{name}\n" for name in sorted(set(names))), encoding="utf-8")


def _offered(names: Iterable[object], incomplete: str) -> list[str]:
    return sorted(str(name) for name in names if str(name).startswith(incomplete))


def _stack_of(ctx: Any) -> tuple[Path, dict[str, Any]] | None:
    """The stack file's path and plain content; None where there is none to be read."""
    given = ctx.params.get("stack_path") or os.environ.get("TRIPLANE_STACK")
    if not given:
        return None
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        body = yaml.load(Path(given).read_text(encoding="utf-8"), Loader=loader)
    except (OSError, UnicodeDecodeError, yaml.YAMLError, RecursionError):
        return None
    return (Path(given), body) if isinstance(body, dict) else None


def _remembered(path: Path) -> Iterator[str]:
    with contextlib.suppress(OSError, UnicodeDecodeError):
        yield from _memory_of(str(path)).read_text(encoding="utf-8").split()


def _memory_of(stack_path: str) -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111
    absolute = os.path.realpath(stack_path)
    return Path(home) / "triplane" / "names" / hashlib.sha256(os.fsencode(absolute)).hexdigest()


def _recorded(path: Path, body: dict[str, Any]) -> Iterator[str]:
    """Works of the directory deployer that are there, by the names of their records."""
    name = body.get("set", {}).get("name") if isinstance(body.get("set"), dict) else None
    out = body.get("out") or f"rendered/{path.stem}"
    if not isinstance(name, str) or not isinstance(out, str):
        return
    for record in sorted((path.parent / out / ".triplane" / name).glob("*/*.json")):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            if json.loads(record.read_text(encoding="utf-8")).get("outcome") is None:
                work = record.stem.rpartition(".")[0]
                if work and not work.startswith("_"):
                    yield work


def _wanted(path: Path, body: dict[str, Any]) -> Iterator[str]:
    """Names that stand at the start of a line in the files of the set's inputs."""
    inputs = body.get("set", {}).get("inputs") if isinstance(body.get("set"), dict) else None
    files: list[Path] = []
    for given in inputs if isinstance(inputs, list) else ():
        place = path.parent / str(given)
        files += sorted(place.rglob("*.y*ml")) if place.is_dir() else [place]
    for file in files[:_MOST_FILES]:
        with contextlib.suppress(OSError, UnicodeDecodeError):
            names = [found[2] for found in _NAME.finditer(file.read_text(encoding="utf-8"))]
            yield from names or [file.stem]
