"""Several processes on a node without srun: a function that starts and numbers them.

It gives what srun gives to programs that find each other by themselves (by the variables, a
port, files). MPI programs need what srun does besides: to be told of each other. Whether a
program is one is not in the script, so only interpreters and the launchers of training
frameworks are taken for programs that are none.
"""

from __future__ import annotations

from collections.abc import Iterator

from compiler.migration.script import Script
from compiler.migration.shell.body import Command
from compiler.migration.shell.launchers import Kind, Step, launches

FUNCTION = "srun_tasks"
_INTERPRETERS = frozenset({"bash", "sh", "Rscript", "julia", "perl", "matlab", "octave", "node"})
_TRAINING = frozenset({"torchrun", "accelerate", "deepspeed"})
_SIMPLE = frozenset({"echo", "hostname", "printf", "env", "nvidia-smi", "date", "cat", "true"})
_MPI_MODULES = ("mpi", "mvapich", "mpt/", "craype", "cray-")
_MPI_COMMANDS = frozenset({"mpirun", "mpiexec", "mpiexec.hydra"})
_HOSTS = frozenset(
    {"-hostfile", "--hostfile", "-machinefile", "--machinefile", "-f", "-host", "--host", "-H"}
    | {"-hosts", "-bootstrap", "-launcher", "-rmk", "-ppn", "-perhost", "--npernode", "-npernode"}
    | {"-N", "--bootstrap", "-nodes", "-genvall"}
)
_COUNTS = frozenset({"-np", "-n", "--np", "-c", "--n"})


def is_no_mpi(script: Script, read: Step) -> bool:
    """Whether what a step starts is taken for a program that does without MPI."""
    kind = (read.options.get("mpi") or "none").lower()
    if kind != "none" or any(_is_mpi(fact.text) for fact in script.facts if fact.kind == "module"):
        return False
    assert read.program is not None
    name = (read.command.words[read.program].literal or "").rpartition("/")[2]
    return name.startswith("python") or name in _INTERPRETERS | _TRAINING | _SIMPLE


def _is_mpi(module: str) -> bool:
    return any(word in module.lower() for word in _MPI_MODULES)


def function_lines(script: Script, ends_with_one: bool) -> list[str]:
    """The function's text: `srun_tasks N COMMAND...`; its code is the highest of all.

    `ends_with_one`: a process that fails takes the others with it (`--kill-on-bad-exit`).
    """
    lines = [
        "# Several processes on each node, numbered as the tasks of srun are.",
        f"{FUNCTION}() {{",
        f"    local tasks=$1 task started=(){' left=()' * ends_with_one} code=0 one",
        "    shift",
        "    for ((task = 0; task < tasks; task++)); do",
        "        (",
        "            export SLURM_LOCALID=$task",
        "            export SLURM_PROCID=$((SKYPILOT_NODE_RANK * tasks + task))",
    ]
    gpus = _gpus_of_a_task(script)
    if gpus:
        first = "task" if gpus == 1 else f"task * {gpus}"
        last = "task" if gpus == 1 else f"task * {gpus} + {gpus - 1}"
        lines.append(
            f"            export CUDA_VISIBLE_DEVICES=$(seq -s , $(({first})) $(({last})))"
        )
    lines += ['            exec "$@"', "        ) &", "        started+=($!)", "    done"]
    if ends_with_one:
        # Not `wait -n`: it misses what has ended before it is called.
        lines += [
            "    while ((${#started[@]} > 0)); do",
            "        sleep 0.2 || sleep 1",
            "        left=()",
            '        for task in "${started[@]}"; do',
            '            if kill -0 "$task" 2>/dev/null; then',
            '                left+=("$task")',
            "                continue",
            "            fi",
            "            one=0",
            '            wait "$task" || one=$?',
            "            if ((one != 0 && code == 0)); then",
            "                code=$one",
            '                kill "${started[@]}" 2>/dev/null || true',
            "            fi",
            "        done",
            '        started=(${left[@]+"${left[@]}"})',
            "    done",
        ]
    else:
        lines += [
            '    for task in "${started[@]}"; do',
            "        one=0",
            '        wait "$task" || one=$?',
            "        ((one <= code)) || code=$one",
            "    done",
        ]
    return [*lines, '    return "$code"', "}"]


def _gpus_of_a_task(script: Script) -> int | None:
    demands = script.request.gpus
    return demands[0].count if len(demands) == 1 and demands[0].per == "task" else None


def mpi_commands(script: Script) -> tuple[list[tuple[Command, str | None]], list[tuple[int, str]]]:
    """MPI launchers of a job on one node: (command, the count to put in or None where it stands
    there), and (line, what stands in the way)."""
    found: list[tuple[Command, str | None]] = []
    obstacles: list[tuple[int, str]] = []
    for launch in launches(script.body):
        if launch.kind is not Kind.MPI:
            continue
        command = launch.command
        if launch.name not in _MPI_COMMANDS or command.name != launch.name:
            obstacles.append((command.line, f"`{launch.name}` is the site's own launcher"))
            continue
        flags = set(_flags(command))
        reaching = sorted(flags & _HOSTS)
        if reaching:
            obstacles.append((command.line, f"`{launch.name} {reaching[0]}` names hosts"))
            continue
        count = None if flags & _COUNTS else str(script.request.task_count or 1)
        found.append((command, count))
    return found, obstacles


def _flags(command: Command) -> Iterator[str]:
    for word in command.arguments:
        if word.text.startswith("-"):
            yield word.text.partition("=")[0]
