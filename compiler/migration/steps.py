"""srun on a target without it: taken away where `run` does the same, or replaced."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compiler.diagnostics.codes import migration_body as codes
from compiler.migration import containers, processes
from compiler.migration.editing import Change
from compiler.migration.moved import EDITED, Moved, note, replaced
from compiler.migration.result import Note
from compiler.migration.script import Script
from compiler.migration.shell.body import Command, Context
from compiler.migration.shell.launchers import Step, step

_SAME = frozenset(
    {"nodes", "ntasks", "ntasks-per-node", "cpus-per-task", "gres", "gpus", "gpus-per-node"}
    | {"gpus-per-task", "label", "unbuffered", "kill-on-bad-exit", "export", "mpi", "exclusive"}
    | {"job-name", "cpu-bind", "cpu_bind", "gpu-bind", "mem", "mem-per-cpu", "wait", "exact"}
    | {"overlap", "partition", "account", "time", "qos", "hint", "distribution", "verbose"}
    | {"mem-bind", "quiet", "container-image", "container-mounts"}
)
"""Options of a step that say where and with what, and change nothing about what is run."""

_OWN_JOB = ("SLURM_JOB_ID", "SLURM_JOBID")
_ON_ALL = frozenset({Context.REDIRECTED, Context.PIPE})
"""In what a step on every node may stand: each node has its own part of the output."""

_FIRST = 'head -n 1 <<<"$SKYPILOT_NODE_IPS"'
_ALL = "printf '%s\\n' \"$SKYPILOT_NODE_IPS\""
_HELD = frozenset({"srun", "mpirun", "mpiexec", "singularity", "apptainer", "docker", "podman"})


def replace_steps(script: Script, moved: Moved) -> Iterator[Note]:
    """Replace what reaches the other nodes; what cannot be replaced is a reason."""
    nodes = script.request.node_count
    if nodes is None:
        yield note(codes.TASKS, None, "how many nodes there are is left to Slurm")
        return
    known = script.variables
    for command in script.body.commands:
        if command.name == "srun":
            yield from _step(script, step(command, known), moved)
        elif command.name == "scontrol":
            yield from _scontrol(command, moved)
        elif command.name in ("sbatch", "scancel", "squeue", "sacct", "sinfo", "sbcast", "salloc"):
            yield note(codes.SLURM_COMMAND, command.line, f"`{command.name}` is called")
        elif command.name == "hostname" and nodes > 1 and Context.SUBSTITUTION in command.contexts:
            moved.changes.append(replaced(command, _FIRST))
        elif command.words:
            yield from _container(script, command, 0, moved)
    for assignment in script.body.assignments:
        held = assignment.holds()
        if held in _HELD:
            text = f"{held} is held in `{assignment.name}`"
            yield note(codes.STEP, assignment.line, text)
    if len(moved.main) > 1 and nodes > 1:
        text = "several steps: which of them runs where is srun's work"
        yield note(codes.STEP, moved.main[1].command.line, text)


def plain_steps(script: Script) -> dict[int, Change]:
    """Steps of a job with one task that `run` does without srun, on Slurm as well: by the byte
    at which the command starts.

    From 22.05 on a step has one CPU for its task unless srun is told of more, whatever the job
    has; taking such an srun away would give the program more.
    """
    request = script.request
    if request.node_count != 1 or request.task_count != 1:
        return {}
    known = script.variables
    found = {}
    for command in script.body.called("srun"):
        read = step(command, known)
        options = read.options
        if read.program is None or read.program >= len(command.words) or read.colon:
            continue
        if options.keys() - _PLAIN or Context.BACKGROUND in command.contexts:
            continue
        cpus = options.get("cpus-per-task")
        narrowed = not cpus and (request.cpus_per_task or 1) > 1 and not _is_before_22_05(script)
        if narrowed or (cpus and _number(script, cpus, None) != (request.cpus_per_task or 1)):
            continue
        if (options.get("export") or "ALL").upper() != "ALL" or _on_each_node(script, read) != 1:
            continue
        change = _without_srun(script, read)
        if not any(change.start < s.end and s.start < change.end for s in script.secrets):
            found[command.start] = change
    return found


_PLAIN = frozenset(
    {"nodes", "ntasks", "ntasks-per-node", "cpus-per-task", "unbuffered", "kill-on-bad-exit"}
    | {"export", "overlap", "quiet"}
)
"""Options of a step with which one process is the same without srun."""


def _is_before_22_05(script: Script) -> bool:
    parts = re.findall(r"\d+", script.settings.version or "")
    return len(parts) >= 2 and (int(parts[0]), int(parts[1])) < (22, 5)


def _container(script: Script, command: Command, at: int, moved: Moved) -> Iterator[Note]:
    """Take away what starts a container at this word; the task runs in it instead."""
    found = containers.of_command(command, at, script.variables)
    if isinstance(found, str):
        yield note(codes.CONTAINER, command.line, found)
    elif found is not None:
        moved.containers.append(found)
        moved.changes.append(_removed(script, found.start, found.end, command.line))


def _step(script: Script, read: Step, moved: Moved) -> Iterator[Note]:
    command = read.command
    if read.program is None or read.program >= len(command.words) or read.colon:
        yield note(codes.STEP, command.line, "what srun starts is known only when it runs")
        return
    program = command.words[read.program]
    where = read.options.get("nodelist")
    if program.literal == "hostname" and where and Context.SUBSTITUTION in command.contexts:
        # The address of a node by its name: the names are addresses now.
        moved.changes.append(replaced(command, f"printf '%s\\n' {_as_word(where)}"))
        return
    others = sorted(read.options.keys() - _SAME)
    if others == ["jobid"] and (read.options["jobid"] or "").strip('"${}') in _OWN_JOB:
        others = []
    if others:
        yield note(codes.STEP, command.line, f"srun is given --{others[0]}")
        return
    if (read.options.get("export") or "ALL").upper() != "ALL":
        yield note(codes.STEP, command.line, "srun chooses the environment of its step")
        return
    yield from _place(script, read, moved)
    pyxis = containers.of_step(read.options, script.variables)
    if pyxis is not None:
        image, shown, mounts = pyxis
        start = command.words[0].start
        moved.containers.append(
            containers.Container(image, shown, start, start, command.line, mounts)
        )
    else:
        yield from _container(script, command, read.program, moved)


def _place(script: Script, read: Step, moved: Moved) -> Iterator[Note]:
    """On how many nodes, and how often on each: take srun away, or put the function in."""
    command = read.command
    nodes = script.request.node_count or 1
    count = _on_each_node(script, read)
    if count is None:
        yield note(codes.STEP, command.line, "srun starts something on a part of the nodes")
        return
    if nodes == 1 and Context.BACKGROUND in command.contexts:
        yield note(codes.STEP, command.line, "srun stands in the background")
        return
    if nodes > 1 and (command.contexts - _ON_ALL or command.prefixes):
        what = ", ".join(sorted(command.contexts - _ON_ALL)) or "another command"
        yield note(codes.STEP, command.line, f"srun stands in a {what}")
        return
    moved.main.append(read)
    if count == 1:
        moved.changes.append(_without_srun(script, read))
        return
    if not processes.is_no_mpi(script, read):
        program = command.words[read.program or 0].text
        text = f"`{program}`, {count} times on each node, may be an MPI program"
        yield note(codes.MPI, command.line, text)
        return
    if _reads_input(script, command):
        yield note(codes.STEP, command.line, "srun hands its input to every process")
        return
    moved.steps.append(read)
    moved.changes.append(_without_srun(script, read, f"{processes.FUNCTION} {count} "))


def _reads_input(script: Script, command: Command) -> bool:
    """Whether something is redirected into the command, or piped."""
    data = script.text.encode("utf-8", "surrogateescape")
    end = command.words[-1].end
    rest = data[end : data.find(b"\n", end)] if b"\n" in data[end:] else data[end:]
    return b"<" in rest.partition(b"#")[0]


def _without_srun(script: Script, read: Step, instead: str = "") -> Change:
    assert read.program is not None
    words = read.command.words
    start, end = words[0].start, words[read.program].start
    return _removed(script, start, end, read.command.line, instead)


def _removed(script: Script, start: int, end: int, line: int, instead: str = "") -> Change:
    data = script.text.encode("utf-8", "surrogateescape")
    shown = data[start:end].decode("utf-8", "replace").rstrip()
    return Change(start, end, instead, line, EDITED, shown)


def _on_each_node(script: Script, read: Step) -> int | None:
    """How many processes the step is on each of the job's nodes; None for anything else."""
    nodes = script.request.node_count or 1
    options = read.options
    on_nodes = _number(script, options.get("nodes"), nodes)
    tasks = _number(script, options.get("ntasks"), None)
    per_node = _number(script, options.get("ntasks-per-node"), None)
    if tasks is None and per_node is not None:
        tasks = per_node * nodes
    if tasks is None and "nodes" in options and script.request.tasks is None:
        tasks = nodes * (script.request.tasks_per_node or 1)
    if tasks is None:
        tasks = script.request.task_count
    if tasks is not None and tasks < nodes:
        return None
    if on_nodes != nodes or tasks is None or tasks < 1 or tasks % nodes:
        return None
    return tasks // nodes


def _number(script: Script, text: str | None, default: int | None) -> int | None:
    """The number of an option; `$SLURM_NNODES` and the like are known. -1: it is none."""
    if text is None:
        return default
    name = text.strip('"${}')
    if name in ("SLURM_NNODES", "SLURM_JOB_NUM_NODES"):
        return script.request.node_count
    if name in ("SLURM_NTASKS", "SLURM_NPROCS"):
        return script.request.task_count
    if name == "SLURM_NTASKS_PER_NODE":
        return script.request.node_tasks
    if name == "SLURM_CPUS_PER_TASK":
        return script.request.cpus_per_task
    constant = script.variables.literals.get(name, "") if "$" in text else text
    return int(constant) if constant.isdigit() else -1


def _scontrol(command: Command, moved: Moved) -> Iterator[Note]:
    words = [word.literal for word in command.words[1:3]]
    if words[:1] == ["show"] and words[1:2] and words[1] in ("hostnames", "hostname"):
        moved.changes.append(replaced(command, _ALL))
        return
    shown = " ".join(word.text for word in command.words[:3])
    yield note(codes.SLURM_COMMAND, command.line, f"`{shown}` is called")


def _as_word(text: str) -> str:
    return text if text.startswith('"') else f'"{text}"'
