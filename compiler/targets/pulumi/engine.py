"""One stack of one program folder, driven through the Automation API.

Every call starts pulumi processes and returns when they have ended. What the engine reports
comes back as steps; what it refuses is a WorkFailed with the engine's own words.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compiler.diagnostics import LockHeld, WorkFailed
from compiler.targets.pulumi.program import importable, program_of
from compiler.targets.pulumi.steps import ResourceStep, steps_of

if TYPE_CHECKING:
    from pulumi.automation import EngineEvent, Stack

Progress = Callable[[str], None]
_NOISE = re.compile(r"\x1b\[[0-9;]*m|<\{%.*?%\}>")
# What the engine says beside the reason: that it stops, and which resource, which the URN tells.
_EMPTY_WORDS = ("update failed", "preview failed", "Resource monitor has terminated")
_PREAMBLE = re.compile(
    r"^(?:error: |Preview failed: |update failed: |\S+ resource '[^']*' has a problem: )+"
)


class EngineRefused(WorkFailed):
    """The engine or a provider refused; `urn` names the resource where it is known."""

    def __init__(self, message: str, said: Sequence[tuple[str, str]] = ()) -> None:
        super().__init__(message)
        self.said = tuple(said)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an operation did (or a preview would do), and the stack's outputs after it."""

    steps: tuple[ResourceStep, ...]
    outputs: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Recorded:
    """A resource of the state."""

    urn: str
    type: str
    id: str
    parent: str


class Engine:
    """Raise WorkFailed for what goes wrong, LockHeld if another update of the stack runs."""

    def __init__(
        self, target: str, folder: Path, stack_name: str, variables: Mapping[str, str]
    ) -> None:
        self.target = target
        self.folder = folder
        self.stack_name = stack_name
        self.project = _project_name(folder)
        self._variables = dict(variables)

    def urn_of(self, kind: str, name: str) -> str:
        """The URN of a resource without a parent."""
        return f"urn:pulumi:{self.stack_name}::{self.project}::{kind}::{name}"

    def preview(self, *, targets: Sequence[str] = (), refresh: bool = False) -> Outcome:
        """What an update would do; with `refresh` compared with what is really there."""
        with self._operation() as (stack, seen):
            stack.preview(
                target=list(targets) or None,
                target_dependents=bool(targets),
                refresh=refresh,
                on_event=seen.append,
                on_output=_ignore,
                color="never",
            )
        return Outcome(steps_of(seen))

    def up(self, progress: Progress, *, targets: Sequence[str] = ()) -> Outcome:
        """Carry out the difference between program and state; with `targets` only on those
        and what depends on them."""
        with self._operation(progress) as (stack, seen):
            result = stack.up(
                target=list(targets) or None,
                target_dependents=bool(targets),
                on_event=_told(seen, progress),
                on_output=_ignore,
                color="never",
                show_secrets=False,
            )
        return Outcome(steps_of(seen), {name: item.value for name, item in result.outputs.items()})

    def refresh(self, *, targets: Sequence[str]) -> None:
        """Read what is really there of the targets into the state. Creations that never
        reported back are forgotten."""
        with self._operation() as (stack, seen):
            stack.refresh(
                target=[*targets, *(item.urn for item in self._providers())],
                clear_pending_creates=True,
                on_event=seen.append,
                on_output=_ignore,
                color="never",
                show_secrets=False,
            )

    def destroy(self, progress: Progress, *, targets: Sequence[str] = ()) -> Outcome:
        """Delete the targets with what depends on them, or everything."""
        with self._operation(progress) as (stack, seen):
            stack.destroy(
                target=list(targets) or None,
                target_dependents=bool(targets),
                on_event=_told(seen, progress),
                on_output=_ignore,
                color="never",
                show_secrets=False,
            )
        return Outcome(steps_of(seen))

    def remove(self) -> None:
        """Forget the stack, which must be empty."""
        with self._operation():
            self._stack.workspace.remove_stack(self.stack_name)

    def cancel(self) -> None:
        """Take away the lock that an update left which was killed."""
        with self._operation():
            self._stack.cancel()

    def recorded(self) -> tuple[Recorded, ...]:
        """All resources of the state."""
        with self._operation():
            deployment = self._stack.export_stack().deployment or {}
        return tuple(
            Recorded(item["urn"], item["type"], item.get("id", ""), item.get("parent", ""))
            for item in deployment.get("resources") or ()
        )

    def _providers(self) -> Iterator[Recorded]:
        """A targeted refresh does not start them by itself."""
        return (item for item in self.recorded() if item.type.startswith("pulumi:providers:"))

    @cached_property
    def _stack(self) -> Stack:
        from pulumi import automation

        options = automation.LocalWorkspaceOptions(
            work_dir=str(self.folder), env_vars=self._variables
        )
        return automation.create_or_select_stack(
            stack_name=self.stack_name,
            project_name=self.project,
            program=program_of(self.folder),
            opts=options,
        )

    @contextmanager
    def _operation(
        self, progress: Progress = lambda _: None
    ) -> Iterator[tuple[Stack, list[EngineEvent]]]:
        from pulumi.automation import errors

        seen: list[EngineEvent] = []
        try:
            # A broken event is a warning of the SDK's; it must not spoil our output.
            with importable(self.folder), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                yield self._stack, seen
        except errors.ConcurrentUpdateError as error:
            raise LockHeld(
                f"{self.target}: Pulumi's own lock of the stack is held: {_last(str(error))}; "
                "if that update is gone: triplane unlock"
            ) from None
        except (errors.CommandError, errors.StackNotFoundError) as error:
            said = _said(seen)
            words = "; ".join(text for text, _ in said) or _last(str(error))
            if "is currently locked" in words:
                raise LockHeld(f"{self.target}: {words}") from None
            raise EngineRefused(f"{self.target}: {words}", said) from None


def _said(events: Sequence[EngineEvent]) -> list[tuple[str, str]]:
    """(message, urn) of every error that the engine reported, once each."""
    found: dict[tuple[str, str], None] = {}
    for event in events:
        item = event.diagnostic_event
        if item is None or item.severity != "error":
            continue
        text = _PREAMBLE.sub("", " ".join(_NOISE.sub("", item.message).split()))
        if text and not text.startswith(_EMPTY_WORDS):
            found[text, item.urn or ""] = None
    return list(found)


def _last(text: str) -> str:
    """The line of a failed command's output that says why."""
    lines = [line.strip() for line in _NOISE.sub("", text).splitlines() if line.strip()]
    for line in reversed(lines):
        if line.startswith("error:"):
            return line.removeprefix("error:").strip()
    return lines[-1] if lines else "pulumi failed without a word"


def _told(seen: list[EngineEvent], progress: Progress) -> Callable[[EngineEvent], None]:
    """Collects events, and tells of each resource when it is begun."""

    def on_event(event: EngineEvent) -> None:
        seen.append(event)
        for step in steps_of([event]):
            if not step.is_component:
                progress(f"{step.action} {step.address}")

    return on_event


def _ignore(_: str) -> None:
    """The engine's own display, for which the events stand."""


def _project_name(folder: Path) -> str:
    import yaml

    text = (folder / "Pulumi.yaml").read_text(encoding="utf-8")
    return str(yaml.safe_load(text)["name"])
