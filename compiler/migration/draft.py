"""The task that is being put together, and the directives that it is made of."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from compiler.diagnostics import Code
from compiler.migration.result import Entry, Outcome, Path

_NAME = re.compile(r"[a-zA-Z0-9]+(?:[._-]{1,2}[a-zA-Z0-9]+)*")

_ORDER = ("name", "num_nodes", "resources", "envs", "secrets", "config", "setup", "run")
_RESOURCES = ("infra", "accelerators", "cpus", "memory", "image_id")


@dataclass
class Draft:
    """Filled by the mapping; `task` is the YAML's content in no particular order."""

    task: dict[str, Any] = field(default_factory=dict)
    entries: list[Entry] = field(default_factory=list)
    comments: dict[Path, str] = field(default_factory=dict)

    def put(self, path: Path, value: object) -> None:
        """Set a value in the task, making the maps that lead to it."""
        place = self.task
        for step in path[:-1]:
            place = place.setdefault(step, {})
        place[path[-1]] = value

    def get(self, path: Path) -> Any:
        place: Any = self.task
        for step in path:
            if not isinstance(place, dict) or step not in place:
                return None
            place = place[step]
        return place

    def add(
        self,
        line: int,
        directive: str,
        outcome: Outcome,
        code: Code,
        message: str,
        path: Path | None = None,
    ) -> None:
        self.entries.append(Entry(line, directive, outcome, code.name, message, path))

    def ordered(self) -> dict[str, Any]:
        """The task with its keys in the order in which people read them."""
        task = _sorted_by(self.task, _ORDER)
        if "resources" in task:
            task["resources"] = _sorted_by(task["resources"], _RESOURCES)
        options = self.get(("config", "slurm", "sbatch_options"))
        if options:
            task["config"]["slurm"]["sbatch_options"] = dict(sorted(options.items()))
        return task


def _sorted_by(values: dict[str, Any], order: tuple[str, ...]) -> dict[str, Any]:
    known = {key: values[key] for key in order if key in values}
    return {**known, **{key: value for key, value in values.items() if key not in known}}


def task_name(text: str) -> str:
    """`text` as a name of the dialect: letters and digits, single dots, dashes and underscores."""
    if _NAME.fullmatch(text):
        return text
    cleaned = re.sub(r"[^A-Za-z0-9._-]+", "-", text)
    cleaned = re.sub(r"([._-])[._-]*", r"\1", cleaned).strip("._-")
    return cleaned or "job"
