"""Moving a script to a target that is not Slurm, where that can be done without loss.

A task's `run` is started on every node; a batch script on the first. The two are the same
for one node, and for a script that only prepares and then starts the same on every node
with one srun. Everything else is kept for Slurm.
"""

from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics.codes import migration_body as codes
from compiler.migration import arrays, containers, processes
from compiler.migration.editing import Change
from compiler.migration.moved import EDITED, Moved, note
from compiler.migration.result import DECIDE, Note
from compiler.migration.script import Script
from compiler.migration.shell.body import Command
from compiler.migration.shell.launchers import Kind, launches
from compiler.migration.shell.variables import Variables
from compiler.migration.shim import export_lines, known
from compiler.migration.steps import replace_steps

_NOT_BLOCKING = frozenset(
    {codes.GPU_KIND.name, codes.ENVIRONMENT.name, codes.TASKS.name, codes.VARIABLE.name}
    | {codes.STEP.name, codes.SLURM_COMMAND.name, codes.OPTION_ALONE.name, codes.LIFE.name}
    | {codes.ARRAY.name, codes.MPI.name}
)
"""Reasons that are looked at more closely here."""

_REPEATABLE = frozenset(
    {"module", "ml", "source", ".", "conda", "mamba", "echo", "printf", "cd", "set", "ulimit"}
    | {"date", "nvidia-smi", "head", "tail", "awk", "sed", "tr", "sort", "cut", "wait", "exit"}
    | {"true", "false", "test", "pwd", "env", "sleep", "which", "unset", "shopt", "umask", "cat"}
    | {"mkdir", "trap", "nproc", "whoami", "uname", "free", "lscpu", "df", "seq", "wc", "grep"}
    | {
        "spack",
        "getent",
        "export",
        "[",
        "tee",
        "clear",
        "hostname",
        "python-config",
        "nvcc",
        "basename",
    }
)
"""Commands that may run on every node as well as on the first: they prepare, or look."""

_BLOCKING_OPTIONS = {
    "signal": codes.LIFE,
    "input": codes.OPTION_ALONE,
    "container": codes.OPTION_ALONE,
    "container-name": codes.CONTAINER,
    "container-env": codes.CONTAINER,
    "container-workdir": codes.CONTAINER,
    "container-entrypoint": codes.CONTAINER,
    "image": codes.CONTAINER,
}
_POSIX = ("sh", "dash")
_ANOTHER_VALUE = ("$", "BASHPID", "SRANDOM", "EPOCHSECONDS", "EPOCHREALTIME")
_SEED = "RANDOM=$SKYPILOT_INTERNAL_JOB_ID"
_AS_ROOT = "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"


def translate(script: Script, reasons: tuple[Note, ...]) -> tuple[Moved | None, tuple[Note, ...]]:
    """(what moves the script, nothing), or (None, the reasons why it can only be kept)."""
    is_read = script.interpreter.is_bash or script.interpreter.name in _POSIX
    blocking = [
        reason
        for reason in reasons
        if reason.code not in _NOT_BLOCKING and not (is_read and reason.code == codes.SHELL.name)
    ]
    moved = Moved()
    blocking += _unknown_variables(script)
    blocking += _unmoved_options(script)
    blocking += _array(script, moved)
    blocking += replace_steps(script, moved)
    blocking += _image(script, moved)
    nodes = script.request.node_count or 1
    if nodes > 1:
        blocking += _on_every_node(script, moved)
        blocking += _values(script, moved)
    else:
        blocking += _mpi(script, moved)
    blocking += _secrets(script, moved)
    if blocking:
        return None, tuple(sorted(set(blocking), key=lambda item: (item.line or 0, item.code)))
    _in_front(script, moved)
    return moved, ()


def _in_front(script: Script, moved: Moved) -> None:
    """What the script finds in its environment elsewhere."""
    if script.interpreter.name in _POSIX:
        moved.lines.insert(0, "set -o posix")
        text = f"the script is for {script.interpreter.name}: bash reads it in its POSIX mode"
        moved.notes.append(note(codes.SHELL, 1, text, ""))
    # What srun starts on several nodes finds its rank by Slurm's variables.
    is_spread = bool(moved.steps) or (bool(moved.main) and (script.request.node_count or 1) > 1)
    lines = export_lines(script, is_spread)
    if lines:
        moved.lines.extend(lines)
        names = ", ".join(line.removeprefix("export ").partition("=")[0] for line in lines)
        text = f"lines in front of the script export {names}"
        moved.notes.append(note(codes.SHIM, None, text))
    if moved.steps:
        ends = any(read.options.get("kill-on-bad-exit", "0") != "0" for read in moved.steps)
        moved.lines.extend(processes.function_lines(script, ends))
        text = "the processes of a node are started by a function in front of the script"
        hint = "A launcher (`torchrun --nproc_per_node`) does it as well, and says more."
        moved.notes.append(note(codes.STEP, moved.steps[0].command.line, text, hint))
    if script.interpreter.login:
        text = "a login shell was asked for; what its profile sets up is not there"
        moved.notes.append(note(codes.SHELL, 1, text, "Set it up in `setup`, or the image."))


def _unknown_variables(script: Script) -> Iterator[Note]:
    own = {assignment.name for assignment in script.body.assignments}
    counterparts = known(script)
    if "array" in script.options:
        counterparts |= arrays.VARIABLES
    for fact in script.facts:
        if fact.kind != "slurm-variable" or fact.text in counterparts or fact.text in own:
            continue
        hint = codes.VARIABLE.fix
        if fact.text in arrays.VARIABLES:
            hint = "Give the array's indices: `triplane migrate -- sbatch --array=1-10 job.sh`."
        yield note(codes.VARIABLE, fact.line, f"`{fact.text}` has no counterpart", hint)


def _unmoved_options(script: Script) -> Iterator[Note]:
    for name, code in _BLOCKING_OPTIONS.items():
        if name in script.options:
            given = script.component.last(name)
            line = given.line if given else None
            yield note(code, line, f"`--{name}` does something that a task cannot")


def _array(script: Script, moved: Moved) -> Iterator[Note]:
    """Every member is a run, which finds its index by its number."""
    text = script.options.get("array")
    if text is None:
        return
    given = script.component.last("array")
    line = given.line if given else None
    array = arrays.array_of(text)
    if array is None:
        yield note(codes.ARRAY, line, f"`{text}` cannot be written as a number of runs")
        return
    if array.at_once == 1:
        yield note(codes.ARRAY, line, f"the members of `{text}` run one after the other")
        return
    reads = {fact.text for fact in script.facts if fact.kind == "slurm-variable"}
    moved.lines.extend(arrays.export_lines(array, reads))
    if array.at_once is not None:
        said = f"no more than {array.at_once} members ran at once; how many do is the queue's there"
        moved.notes.append(note(codes.ARRAY, line, said, "Give the queue a quota."))
    if "SLURM_ARRAY_JOB_ID" in reads:
        said = "`SLURM_ARRAY_JOB_ID` was the same for all members; every run has its own number"
        moved.notes.append(note(codes.CONSTRUCT, line, said, "Name files by something else."))


def _image(script: Script, moved: Moved) -> Iterator[Note]:
    """The one image in which all of the script runs."""
    for launch in launches(script.body):
        if launch.kind is Kind.CONTAINER and launch.name in _ENGINES:
            text = f"`{launch.name}` starts a container, and the task would run in one already"
            yield note(codes.CONTAINER, launch.command.line, text)
    first = moved.container
    if first is None:
        return
    for other in moved.containers[1:]:
        if other.shown != first.shown:
            text = f"`{other.shown}` is another image than `{first.shown}`"
            yield note(codes.CONTAINER, other.line, text)
    starts = [container.start for container in moved.containers]
    own = set(script.body.functions)
    for command in script.body.commands:
        if (
            any(command.start <= start < command.end for start in starts)
            or command.name in _REPEATABLE
            or command.name in own
        ):
            continue
        if command.name not in ("srun", "scontrol") and command.words:
            text = f"`{command.name or command.words[0].text}` runs outside of the container"
            yield note(codes.CONTAINER, command.line, text)
    if first.image is None:
        text = f"{DECIDE}which image of a registry `{first.shown}` is"
        moved.notes.append(note(codes.IMAGE, first.line, text))
    for mount in first.mounts:
        text = f"`{mount}` was mounted into the container"
        moved.notes.append(note(codes.MOUNTS, first.line, text))


_ENGINES = frozenset({"docker", "podman", "podman-hpc", "nvidia-docker", "enroot", "ch-run"}) | {
    "sarus",
    "udocker",
}


def _mpi(script: Script, moved: Moved) -> Iterator[Note]:
    """mpirun on the one node: it needs to be told how many processes there are."""
    found, obstacles = processes.mpi_commands(script)
    for line, text in obstacles:
        yield note(codes.MPI, line, text)
    calls = {command.start for command in script.body.commands}
    for command, count in found:
        if command.start not in calls:
            yield note(codes.MPI, command.line, "srun starts MPI's own launcher")
        elif any(_starts_container(command, at) for at in range(1, len(command.words))):
            yield note(codes.CONTAINER, command.line, "MPI starts the containers")
        elif count is not None:
            word = command.words[0]
            text = f"{word.text} -np {count}"
            moved.changes.append(Change(word.start, word.end, text, command.line, EDITED))
    if found:
        moved.lines.append(_AS_ROOT)
        text = (
            "the image has to bring this MPI; containers often run as root, which Open MPI refuses"
        )
        moved.notes.append(note(codes.MPI, found[0][0].line, text, "A line in front allows it."))


def _starts_container(command: Command, at: int) -> bool:
    return containers.of_command(command, at, Variables()) is not None


def _on_every_node(script: Script, moved: Moved) -> Iterator[Note]:
    """Whether all that is no step may be done on every node."""
    if not moved.main:
        yield note(codes.TASKS, None, "only the first of the nodes runs anything by itself")
        return
    own = set(script.body.functions)
    steps = {read.command.start for read in moved.main}
    for command in script.body.commands:
        if command.start in steps or command.name in ("srun", "scontrol"):
            continue
        if command.name not in _REPEATABLE and command.name not in own:
            shown = command.name or command.words[0].text if command.words else "a command"
            text = f"`{shown}` ran once, on the first node, and would run on every one"
            yield note(codes.TASKS, command.line, text)


def _values(script: Script, moved: Moved) -> Iterator[Note]:
    """Values that were computed once, by the batch script, and would be by every node."""
    for use in script.body.uses:
        if use.name in _ANOTHER_VALUE and not use.quoted:
            text = f"`${use.name}` was one value, and would be another on every node"
            yield note(codes.CONSTRUCT, use.line, text)
    uses = [use for use in script.body.reads("RANDOM") if not use.quoted]
    if uses:
        moved.lines.append(_SEED)
        text = "`RANDOM` gets the same seed on every node: it was one value for all"
        moved.notes.append(note(codes.CONSTRUCT, uses[0].line, text))
    for use in script.body.reads("SLURM_PROCID", "SLURM_NODEID"):
        if not use.quoted:
            text = f"`${use.name}` was 0, where the batch script expanded it; it is the rank now"
            moved.notes.append(note(codes.CONSTRUCT, use.line, text))
    for command in script.body.called("date"):
        text = "`date` may give another value on every node"
        moved.notes.append(note(codes.CONSTRUCT, command.line, text))


def _secrets(script: Script, moved: Moved) -> Iterator[Note]:
    """A place is changed once: there is no secret in what is taken away."""
    for secret in script.secrets:
        if any(c.start < secret.end and secret.start < c.end for c in moved.changes):
            text = "a key stands in a text that would have to be changed"
            yield note(codes.SECRET, secret.line, text)
