"""What a target and a deployer promise the workflow.

A *target* (kubernetes, slurm, aws) is pure: `lower` turns a job into plain data and says what
is lost, `emit` turns the data into artifacts, `verify` checks an artifact for what it is.
A *deployer* touches the world: it observes, and executes one change at a time.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from compiler.diagnostics import TriplaneError, WorkFailed
from compiler.model import (
    Group,
    Pipeline,
    Resources,
    Stack,
    TargetKind,
    TargetSpec,
    Task,
    Volume,
    names,
)
from compiler.rendering.filetree import FileTree

if TYPE_CHECKING:
    from compiler.diagnostics import Diagnostic, Diagnostics
    from compiler.planning.records import Record
    from compiler.planning.states import Observation, ObservedRun
    from compiler.rendering.artifact import Artifact


@dataclass(frozen=True, slots=True)
class JoinedGroup:
    """The run of a group that a task joins while it is running; `members` are its tasks with
    their numbers of nodes."""

    name: str
    run: int
    members: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Job:
    """One run of one work on its target: the whole input of lowering.

    `resources` is the candidate that placement chose; `spec_digest` and `files_digest` are
    the two digests of the work. The same job gives the same artifacts, byte for byte.

    Of a group or a pipeline `members` are the jobs of its tasks, in order: each a job like any
    other with its own task, candidate, trees and digests, `<whole>-<task>` as its work and
    `part_of` naming the whole. `task` and `resources` of the whole are its first member's; its
    trees are all of theirs. Members share `stack`, `target`, `run`, and `group` or `pipeline`.

    Of a volume `task` is an empty one, to be left alone. `mounted` has the documents of the
    volumes that the task names, by name. `joins` is the running group that this task joins.
    `num_jobs` is how many times one run starts the task, each knowing its SKYPILOT_JOB_RANK; it
    is 1 but on a platform that has arrays.
    """

    stack: Stack
    target: TargetSpec
    task: Task
    work: str
    resources: Resources
    run: int
    spec_digest: str
    files_digest: str
    trees: tuple[FileTree, ...] = ()
    group: Group | None = None
    pipeline: Pipeline | None = None
    volume: Volume | None = None
    members: tuple[Job, ...] = ()
    part_of: str | None = None
    joins: JoinedGroup | None = None
    mounted: Mapping[str, Volume] = field(default_factory=dict)
    num_jobs: int = 1

    @property
    def ends(self) -> bool:
        """Whether the work ends by itself: neither a service nor a volume does."""
        return self.volume is None and self.task.service is None

    @property
    def name(self) -> str:
        """`<set>-[<group>-]<task>-<run>`, a DNS label; without the run where nothing ends."""
        if not self.ends:
            return names.work_label(self.stack.set_name, self.work)
        return names.run_label(self.stack.set_name, self.work, self.run)

    @property
    def group_name(self) -> str | None:
        """The group that the task is in or joins: SKYPILOT_JOBGROUP_NAME."""
        if self.group is not None:
            return self.group.name
        return None if self.joins is None else self.joins.name

    @property
    def whole(self) -> str:
        """The work that an apply knows, and that objects are found by: the job's own, or that
        of the group or pipeline of which it is a member."""
        return self.part_of or self.work

    @property
    def whole_name(self) -> str:
        """The `name` of the whole."""
        if self.part_of is None:
            return self.name
        return names.run_label(self.stack.set_name, self.part_of, self.run)

    @property
    def member_name(self) -> str:
        """What the task is called in its group or pipeline; the work's name where it is alone."""
        return self.work if self.part_of is None else self.work.removeprefix(f"{self.part_of}-")

    @property
    def object_name(self) -> str:
        """What the platform's own object is called: on Slurm the name carries the identity."""
        if self.target.kind is TargetKind.SLURM:
            return names.slurm_job_name(self.stack.set_name, self.work, self.run, self.spec_digest)
        return self.name

    @property
    def task_id(self) -> str:
        return names.task_id(self.stack.set_name, self.work, self.run)

    @property
    def folder(self) -> str:
        """The folder of the job's artifacts, relative to the output folder."""
        return f"{self.target.kind}/{self.target.key}/{self.name}"


class SupportLevel(enum.StrEnum):
    """FULL: means the same; CHANGED: means something else; IGNORED: lost; REFUSED: an error."""

    FULL = "full"
    CHANGED = "changed"
    IGNORED = "ignored"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Support:
    """How a target treats one field of the dialect: a row of its table of differences.

    `field` is the dotted name (`resources.disk_tier`); `note` says what becomes of it, for
    the diagnostic and for docs/support-matrix.md.
    """

    field: str
    level: SupportLevel
    note: str
    hint: str = ""


class Target(Protocol):
    """The pure half of a platform."""

    kind: str
    support: Mapping[str, Support]

    def refusals(
        self, task: Task, resources: Resources, target: TargetSpec
    ) -> Iterable[Diagnostic]:
        """Why this candidate cannot be placed here: the errors of the support table."""

    def refusals_of_whole(
        self, whole: Group | Pipeline | Volume, target: TargetSpec
    ) -> Iterable[Diagnostic]:
        """Why the target cannot take this group, pipeline or volume, beyond what it has against
        single members. A row `group`, `pipeline`, `volume` or `group (joined later)` of the
        support table that is REFUSED needs no word here: the workflow reads it."""

    def volume_updates(self, volume: Volume, target: TargetSpec) -> frozenset[str]:
        """The fields of a volume of this type (`size`, `labels`, `config.iops`) that the
        platform changes while the volume is there; a change of any other is refused."""

    def render(self, job: Job, diagnostics: Diagnostics) -> tuple[Artifact, ...]:
        """lower + emit; what is dropped or changed in meaning goes to `diagnostics`."""

    def project(self, stack: Stack, target: TargetSpec) -> tuple[Artifact, ...]:
        """Artifacts that belong to the target as a whole (a Pulumi project). They must not
        depend on which jobs there are: a program finds its modules in their folder."""

    def verify(self, artifact: Artifact, target: TargetSpec) -> Iterable[Diagnostic]:
        """Check a rendered text for what it is; findings are bugs of ours or of pod_config."""


@dataclass(frozen=True, slots=True)
class Capacity:
    """Free accelerators by canonical name, as the target said when it was asked."""

    free: Mapping[str, int]
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One thing for a deployer to do, self-contained: it holds the exact bytes.

    `action` is `create`, `update`, `replace` (cancel `previous`, then create) or `delete`.
    `record` is the intent to write first. `secret_values` are handed over at apply, kept in
    memory only. `uploads` are local trees to bring to the target before the object.
    """

    action: str
    record: Record
    artifacts: tuple[Artifact, ...]
    previous: ObservedRun | None = None
    uploads: tuple[FileTree, ...] = ()
    secret_values: Mapping[str, str] = field(default_factory=dict, repr=False)
    fields: Mapping[str, str] = field(default_factory=dict)


class PreviewRefused(WorkFailed):
    """What a platform would not take. `places` has, for each diagnostic, the path of the
    artifact and the platform's own name of the field, empty where it named none."""

    def __init__(
        self,
        message: str,
        diagnostics: Sequence[Diagnostic],
        places: Sequence[tuple[str, str]],
    ) -> None:
        super().__init__(message, diagnostics=diagnostics)
        self.places = tuple(places)


class StepRefused(WorkFailed):
    """A platform refused to make or change a run as it is; nothing was changed.

    `fields` are the dialect's fields that the refusal may be about, the likeliest first.
    """

    def __init__(
        self, message: str, diagnostics: Sequence[Diagnostic] = (), fields: Sequence[str] = ()
    ) -> None:
        super().__init__(message, diagnostics=diagnostics)
        self.fields = tuple(fields)


Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Streams:
    """File descriptors of this process that a command on a rank is connected to.

    `stdin` None: there is no input. `terminal`: they are a terminal, and the command gets one
    of its own, with every key and the size.
    """

    stdin: int | None
    stdout: int
    stderr: int
    terminal: bool = False


class Deployer(Protocol):
    """The half that touches the world; constructed for one target of one stack.

    Every method may raise TargetUnreachable (nothing was changed) or WorkFailed.
    """

    def close(self) -> None:
        """Give back what a connection holds; the next call makes a new one."""

    def check(self) -> str:
        """A line for `triplane check`: version and who we are there."""

    def observe(self, with_artifacts: bool = True) -> Observation:
        """All runs of the stack's set here, with their live states."""

    def capacity(self) -> Capacity | None:
        """Free accelerators; None where the question makes no sense (directory)."""

    def lock(self, holder: str) -> None:
        """Take the set's lock on this target or raise LockHeld, which names the holder."""

    def unlock(self) -> None: ...

    def break_lock(self) -> str | None:
        """Remove the lock whoever holds it; returns who did, None if nobody."""

    def execute(self, step: Step, progress: Progress) -> Record:
        """Do one step so that a kill at any point leaves it to be completed by the next
        call with the same step: intent, object, identity. Returns the record as it now is."""

    def create_all(
        self, steps: Sequence[Step], progress: Progress
    ) -> Iterable[tuple[Step, Record | TriplaneError]]:
        """Do those of the `create` steps that are cheaper together, in any order, each as safely
        as `execute` does; what is not among the results is left to `execute`. Deployers for
        which many are no cheaper than one leave it out."""

    def cancel(self, run: ObservedRun) -> None: ...

    def stop(self, run: ObservedRun, progress: Progress) -> None:
        """Give the nodes of a live run back and keep its file systems, for `start`. Deployers
        that cannot leave both out."""

    def start(self, run: ObservedRun, progress: Progress) -> Record:
        """A stopped run again, under its number, with the file systems that it had."""

    def logs(self, run: ObservedRun, *, follow: bool, tail: int | None) -> Iterable[str]:
        """Lines of all ranks, each with a `(rank N) ` prefix where there are several."""

    def exec(self, run: ObservedRun, command: Sequence[str], streams: Streams, *, rank: int) -> int:
        """Run a command beside a live run's own on one of its ranks, in the environment and
        the folder of `run`; its exit code. Deployers without a way in leave it out."""
