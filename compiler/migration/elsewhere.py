"""Moving a script to a target that is not Slurm, where that can be done without loss.

A task's `run` is started on every node; a batch script on the first. The two are the same
for one node, and for a script that only prepares and then starts one process on every node
with one srun. Everything else is kept for Slurm.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from compiler.diagnostics.codes import migration_body as codes
from compiler.migration.editing import Change
from compiler.migration.result import Note
from compiler.migration.script import Script
from compiler.migration.shell.body import Command, Context
from compiler.migration.shell.launchers import Kind, Step, launches, step
from compiler.migration.shim import KNOWN, export_lines

_NOT_BLOCKING = frozenset(
    {codes.GPU_KIND.name, codes.ENVIRONMENT.name, codes.TASKS.name, codes.VARIABLE.name}
    | {codes.STEP.name, codes.SLURM_COMMAND.name, codes.OPTION_ALONE.name, codes.LIFE.name}
)
"""Reasons that are looked at more closely here."""

_REPEATABLE = frozenset(
    {"module", "ml", "source", ".", "conda", "mamba", "echo", "printf", "cd", "set", "ulimit"}
    | {"date", "nvidia-smi", "head", "tail", "awk", "sed", "tr", "sort", "cut", "wait", "exit"}
    | {"true", "false", "test", "pwd", "env", "sleep", "which", "unset", "shopt", "umask", "cat"}
    | {"mkdir", "trap", "nproc", "whoami", "uname", "free", "lscpu", "df", "seq", "wc", "grep"}
    | {"spack", "getent", "export", "[", "hostname", "python-config", "nvcc", "basename"}
)
"""Commands that may run on every node as well as on the first: they prepare, or look."""

_STEP_OPTIONS = frozenset(
    {"nodes", "ntasks", "ntasks-per-node", "cpus-per-task", "gres", "gpus", "gpus-per-node"}
    | {"gpus-per-task", "label", "unbuffered", "kill-on-bad-exit", "export", "mpi", "exclusive"}
    | {"job-name", "cpu-bind", "cpu_bind", "gpu-bind", "mem", "mem-per-cpu", "wait", "exact"}
    | {"overlap", "partition", "account", "time", "qos", "hint", "distribution", "verbose"}
    | {"mem-bind", "quiet"}
)
"""Options of a step that say where and with what, and change nothing about what is run."""

_BLOCKING_OPTIONS = {
    "signal": codes.LIFE,
    "input": codes.OPTION_ALONE,
    "container": codes.OPTION_ALONE,
    "container-image": codes.CONTAINER,
    "image": codes.CONTAINER,
}
_ANOTHER_VALUE = ("$", "BASHPID", "SRANDOM", "EPOCHSECONDS", "EPOCHREALTIME")
_SEED = "RANDOM=$SKYPILOT_INTERNAL_JOB_ID"

_FIRST = 'head -n 1 <<<"$SKYPILOT_NODE_IPS"'
_ALL = "printf '%s\\n' \"$SKYPILOT_NODE_IPS\""


@dataclass(frozen=True)
class Moved:
    """`lines` in front of the script, `changes` in it, and what is to be said."""

    lines: list[str] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)


def translate(script: Script, reasons: tuple[Note, ...]) -> tuple[Moved | None, tuple[Note, ...]]:
    """(what moves the script, nothing), or (None, the reasons why it can only be kept)."""
    blocking = [note for note in reasons if note.code not in _NOT_BLOCKING]
    if any(note.code == codes.SHELL.name for note in blocking) and script.interpreter.is_bash:
        blocking = [note for note in blocking if note.code != codes.SHELL.name]
    blocking += _unknown_variables(script)
    moved = Moved()
    blocking += _unmoved_options(script)
    blocking += _steps(script, moved)
    blocking += _containers(script)
    if blocking:
        return None, tuple(sorted(blocking, key=lambda note: (note.line or 0, note.code)))
    lines = export_lines(script)
    if lines:
        moved.lines.extend(lines)
        names = ", ".join(line.removeprefix("export ").partition("=")[0] for line in lines)
        text = f"lines in front of the script export {names}"
        moved.notes.append(Note(None, codes.SHIM.name, text, codes.SHIM.fix))
    if script.interpreter.login:
        text = "a login shell was asked for; what its profile sets up is not there"
        moved.notes.append(Note(1, codes.SHELL.name, text, "Set it up in `setup`, or the image."))
    return moved, ()


def _note(code, line: int | None, text: str) -> Note:
    return Note(line, code.name, text, code.fix)


def _unknown_variables(script: Script) -> Iterator[Note]:
    own = {assignment.name for assignment in script.body.assignments}
    for fact in script.facts:
        if fact.kind == "slurm-variable" and fact.text not in KNOWN and fact.text not in own:
            yield _note(codes.VARIABLE, fact.line, f"`{fact.text}` has no counterpart")


def _unmoved_options(script: Script) -> Iterator[Note]:
    for name, code in _BLOCKING_OPTIONS.items():
        if name in script.options:
            given = script.component.last(name)
            line = given.line if given else None
            yield _note(code, line, f"`--{name}` does something that a task cannot")


def _containers(script: Script) -> Iterator[Note]:
    for launch in launches(script.body):
        if launch.kind is Kind.CONTAINER:
            text = f"`{launch.name}` starts a container, and the task would run in one already"
            yield _note(codes.CONTAINER, launch.command.line, text)


def _steps(script: Script, moved: Moved) -> Iterator[Note]:
    """Replace what reaches the other nodes; what cannot be replaced is a reason."""
    nodes = script.request.node_count
    if nodes is None:
        yield _note(codes.TASKS, None, "how many nodes there are is left to Slurm")
        return
    main: list[Step] = []
    for command in script.body.commands:
        if command.name == "srun":
            yield from _step(script, step(command), moved, main)
        elif command.name == "scontrol":
            yield from _scontrol(command, moved)
        elif command.name in ("sbatch", "scancel", "squeue", "sacct", "sinfo", "sbcast", "salloc"):
            yield _note(codes.SLURM_COMMAND, command.line, f"`{command.name}` is called")
        elif command.name == "hostname" and nodes > 1 and Context.SUBSTITUTION in command.contexts:
            moved.changes.append(_change(command, _FIRST, codes.EDITED.name))
    if any(_holds_srun(assignment) for assignment in script.body.assignments):
        yield _note(codes.STEP, None, "srun is held in a variable")
    if len(main) > 1:
        text = "several steps: which of them runs where is srun's work"
        yield _note(codes.STEP, main[1].command.line, text)
    if nodes > 1:
        yield from _on_every_node(script, main)
        yield from _values(script, moved)
    elif not main and (script.request.task_count or 1) > 1 and _uses_mpi(script):
        yield _note(codes.TASKS, None, "the tasks are started by MPI")


def _uses_mpi(script: Script) -> bool:
    return any(launch.kind is Kind.MPI for launch in launches(script.body))


def _holds_srun(assignment) -> bool:
    words = (assignment.value.literal or "").split() if assignment.value else []
    return bool(words) and words[0].rpartition("/")[2] == "srun"


def _step(script: Script, read: Step, moved: Moved, main: list[Step]) -> Iterator[Note]:
    command = read.command
    if read.program is None or read.program >= len(command.words) or read.colon:
        yield _note(codes.STEP, command.line, "what srun starts is known only when it runs")
        return
    program = command.words[read.program :]
    where = read.options.get("nodelist")
    if program[0].literal == "hostname" and where and Context.SUBSTITUTION in command.contexts:
        # The address of a node by its name: the names are addresses now.
        moved.changes.append(_change(command, f"printf '%s\\n' {_as_word(where)}", _EDITED))
        return
    others = sorted(read.options.keys() - _STEP_OPTIONS)
    if others:
        yield _note(codes.STEP, command.line, f"srun is given --{others[0]}")
        return
    if (read.options.get("export") or "ALL").upper() != "ALL":
        yield _note(codes.STEP, command.line, "srun chooses the environment of its step")
        return
    alone = (script.request.node_count or 1) == 1
    if alone and _is_one(script, read) and Context.BACKGROUND not in command.contexts:
        # One process on the one node: the same with and without srun, wherever it stands.
        moved.changes.append(_without_srun(script, read))
        return
    if command.contexts - {Context.REDIRECTED} or command.prefixes:
        what = ", ".join(sorted(command.contexts - {Context.REDIRECTED})) or "another command"
        yield _note(codes.STEP, command.line, f"srun stands in a {what}")
        return
    if not _one_a_node(script, read):
        text = "srun starts several processes on a node, or not one on each"
        yield _note(codes.STEP, command.line, text)
        return
    moved.changes.append(_without_srun(script, read))
    main.append(read)


def _is_one(script: Script, read: Step) -> bool:
    tasks = read.options.get("ntasks") or read.options.get("ntasks-per-node")
    return _number(script, tasks, script.request.task_count) == 1


def _without_srun(script: Script, read: Step) -> Change:
    command = read.command
    assert read.program is not None
    start, end = command.words[0].start, command.words[read.program].start
    return Change(start, end, "", command.line, _EDITED, _text(script, start, end))


_EDITED = codes.EDITED.name


def _one_a_node(script: Script, read: Step) -> bool:
    """Whether the step is one process on each node of the job."""
    nodes = script.request.node_count or 1
    options = read.options
    on_nodes = _number(script, options.get("nodes"), nodes)
    tasks = _number(script, options.get("ntasks"), None)
    per_node = _number(script, options.get("ntasks-per-node"), None)
    if on_nodes != nodes:
        return False
    if tasks is not None:
        return tasks == nodes
    if per_node is not None:
        return per_node == 1
    if "nodes" in options:
        return script.request.tasks_per_node in (None, 1) and script.request.tasks in (None, nodes)
    return script.request.node_tasks == 1


def _number(script: Script, text: str | None, default: int | None) -> int | None:
    """The number of an option; `$SLURM_NNODES` and the like are known."""
    if text is None:
        return default
    name = text.strip('"${}')
    if name in ("SLURM_NNODES", "SLURM_JOB_NUM_NODES"):
        return script.request.node_count
    if name == "SLURM_NTASKS":
        return script.request.task_count
    return int(text) if text.isdigit() else -1


def _on_every_node(script: Script, main: list[Step]) -> Iterator[Note]:
    """Whether all that is no step may be done on every node."""
    if not main:
        yield _note(codes.TASKS, None, "only the first of the nodes runs anything by itself")
        return
    own = set(script.body.functions)
    steps = {read.command.start for read in main}
    for command in script.body.commands:
        if command.start in steps or command.name in ("srun", "scontrol"):
            continue
        if command.name not in _REPEATABLE and command.name not in own:
            shown = command.name or command.words[0].text if command.words else "a command"
            text = f"`{shown}` ran once, on the first node, and would run on every one"
            yield _note(codes.TASKS, command.line, text)


def _values(script: Script, moved: Moved) -> Iterator[Note]:
    """Values that were computed once, by the batch script, and would be by every node."""
    for use in script.body.uses:
        if use.name in _ANOTHER_VALUE and not use.quoted:
            text = f"`${use.name}` was one value, and would be another on every node"
            yield _note(codes.CONSTRUCT, use.line, text)
    uses = [use for use in script.body.reads("RANDOM") if not use.quoted]
    if uses:
        moved.lines.append(_SEED)
        text = "`RANDOM` gets the same seed on every node: it was one value for all"
        moved.notes.append(_note(codes.CONSTRUCT, uses[0].line, text))
    for use in script.body.reads("SLURM_PROCID", "SLURM_NODEID"):
        if not use.quoted:
            text = f"`${use.name}` was 0, where the batch script expanded it; it is the rank now"
            moved.notes.append(_note(codes.CONSTRUCT, use.line, text))
    for command in script.body.called("date"):
        text = "`date` may give another value on every node"
        moved.notes.append(_note(codes.CONSTRUCT, command.line, text))


def _scontrol(command: Command, moved: Moved) -> Iterator[Note]:
    words = [word.literal for word in command.words[1:3]]
    if words[:1] == ["show"] and words[1:2] and words[1] in ("hostnames", "hostname"):
        moved.changes.append(_change(command, _ALL, _EDITED))
        return
    shown = " ".join(word.text for word in command.words[:3])
    yield _note(codes.SLURM_COMMAND, command.line, f"`{shown}` is called")


def _change(command: Command, text: str, code: str) -> Change:
    end = command.words[-1].end if command.words else command.end
    return Change(command.words[0].start, end, text, command.line, code)


def _text(script: Script, start: int, end: int) -> str:
    data = script.text.encode("utf-8", "surrogateescape")
    return data[start:end].decode("utf-8", "replace").rstrip()


def _as_word(text: str) -> str:
    return text if text.startswith('"') else f'"{text}"'
