"""Whether a script can become a task with its own `run`, or is kept as it is, and why."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import Code
from compiler.diagnostics.codes import migration as codes
from compiler.diagnostics.codes import migration_body as body_codes
from compiler.migration.gpus import spelled_alike
from compiler.migration.result import Note
from compiler.migration.script import Script
from compiler.migration.shell.launchers import Kind, launches
from compiler.migration.steps import plain_steps

SAME_IN_A_STEP = frozenset(
    {
        *("SLURM_JOB_ID", "SLURM_JOBID", "SLURM_JOB_PARTITION", "SLURM_JOB_USER"),
        *("SLURM_JOB_ACCOUNT", "SLURM_JOB_QOS", "SLURM_CLUSTER_NAME", "SLURM_JOB_NODELIST"),
        *("SLURM_NODELIST", "SLURM_JOB_NUM_NODES", "SLURM_NNODES", "SLURM_SUBMIT_HOST"),
        *("SLURM_JOB_UID", "SLURMD_NODENAME", "SLURM_NODEID", "SLURM_PROCID", "SLURM_LOCALID"),
        *("SLURM_GPUS_ON_NODE", "SLURM_JOB_GPUS", "SLURM_TMPDIR", "SLURM_CONF"),
    }
)
"""Variables that a single step on a single node has like the batch script."""

_OF_THE_TASKS = ("SLURM_NTASKS", "SLURM_NPROCS", "SLURM_TASKS_PER_NODE")
_OF_THE_CPUS = ("SLURM_CPUS_PER_TASK", "SLURM_JOB_CPUS_PER_NODE", "SLURM_CPUS_ON_NODE")
_LIFE = ("signal", "requeue", "dependency", "begin", "deadline", "hold", "open-mode", "no-requeue")
_ALONE = (
    *("mem-per-gpu", "gpus-per-task", "gpus-per-socket", "cpus-per-gpu", "ntasks-per-gpu"),
    *("ntasks-per-core", "ntasks-per-socket", "ntasks-per-tres", "input", "export-file"),
    *("container", "container-image", "container-name", "container-mounts", "image", "volume"),
    *("overcommit", "clusters", "cluster", "mincpus", "batch", "bb"),
)
_FLAT = ("dependency", "begin", "deadline", "hold")  # handed on by `sbatch_options` as well
_OTHER_THAN_STEP = {
    Kind.MPI: body_codes.MPI,
    Kind.REMOTE: body_codes.REMOTE,
}


def reasons(script: Script) -> tuple[Note, ...]:
    """Why `run` would not do the same on Slurm, sorted by line; empty where it would."""
    found = [
        *_shell(script),
        *_demands(script),
        *_options(script),
        *_launchers(script),
        *_variables(script),
        *_itself(script),
    ]
    return tuple(sorted(found, key=lambda note: (note.line or 0, note.code)))


def _note(code: Code, line: int | None, message: str) -> Note:
    return Note(line, code.name, message, code.fix)


def _shell(script: Script) -> Iterator[Note]:
    interpreter = script.interpreter
    if not interpreter.is_bash:
        name = interpreter.name or "nothing"
        yield _note(body_codes.SHELL, 1, f"the script is for {name}, `run` is read by bash")
    elif interpreter.login:
        yield _note(body_codes.SHELL, 1, "the script wants a login shell")
    elif interpreter.other:
        yield _note(body_codes.SHELL, 1, f"bash is started with `{interpreter.other}`")
    if script.body.faults:
        line = script.body.faults[0]
        yield _note(body_codes.SYNTAX, line, "what stands here is no bash that is understood")
    if not script.is_text:
        yield _note(body_codes.SYNTAX, None, "the script holds bytes that are no UTF-8")


def _demands(script: Script) -> Iterator[Note]:
    request = script.request
    line = _line(script, "ntasks", "ntasks-per-node", "nodes")
    if request.node_count is None:
        yield _note(body_codes.TASKS, line, "how many nodes there are is left to Slurm")
    elif request.node_count > 1 or (request.task_count or 1) > 1:
        tasks = request.task_count or "an unknown number of"
        text = f"{tasks} tasks on {request.node_count} nodes"
        if request.node_count == 1:
            text = f"{tasks} tasks on one node"
        yield _note(body_codes.TASKS, line, f"{text}, which the script itself puts to use")
    if request.memory_mib == 0:
        text = "all memory of a node has no form in a task"
        yield _note(body_codes.OPTION_ALONE, _line(script, "mem", "mem-per-cpu"), text)
    for demand in request.gpus:
        where = _line(script, demand.option)
        if demand.kind is None and not script.settings.gpu_types.get(request.partition or ""):
            text = "GPUs of whatever kind the partition has"
            yield _note(body_codes.GPU_KIND, where, text)
        elif demand.kind is not None and not spelled_alike(demand.kind):
            text = f"the cluster's name `{demand.kind}` is not what an accelerator's would become"
            yield _note(body_codes.GPU_KIND, where, text)
    if len(request.gpus) > 1:
        yield _note(body_codes.GPU_KIND, _line(script, "gres"), "several demands for GPUs at once")
    for item in request.other_gres:
        text = f"`{item}` is a resource of the cluster that no field asks for"
        yield _note(body_codes.OPTION_ALONE, _line(script, "gres"), text)


def _options(script: Script) -> Iterator[Note]:
    options = script.options
    if "array" in options:
        text = f"the job is an array: {options['array']}"
        yield _note(body_codes.ARRAY, _line(script, "array"), text)
    for name in _LIFE:
        if name in options and name not in _FLAT:
            text = f"`--{name}` is for the script's own shell"
            yield _note(body_codes.LIFE, _line(script, name), text)
    for name in _ALONE:
        if name in options:
            yield _note(
                body_codes.OPTION_ALONE, _line(script, name), f"`--{name}` has no place in a task"
            )
    if "," in options.get("partition", ""):
        text = f"whichever of {options['partition']} is free first"
        yield _note(body_codes.OPTION_ALONE, _line(script, "partition"), text)
    export = options.get("export")
    if export is not None and export.upper() != "ALL":
        text = f"`--export={export}` chooses what the script gets of the environment"
        yield _note(body_codes.ENVIRONMENT, _line(script, "export"), text)


def _launchers(script: Script) -> Iterator[Note]:
    plain = plain_steps(script)
    for launch in launches(script.body):
        if launch.kind is Kind.STEP and launch.command.start in plain:
            continue
        if launch.kind is Kind.STEP:
            text = "srun starts the processes" + _flags(launch.flags)
            yield _note(body_codes.STEP, launch.command.line, text)
        elif launch.kind in _OTHER_THAN_STEP:
            text = f"`{launch.name}` reaches the nodes of the allocation" + _flags(launch.flags)
            yield _note(_OTHER_THAN_STEP[launch.kind], launch.command.line, text)
    for fact in script.facts:
        if fact.kind == "slurm-command":
            text = f"`{fact.text}{' ' * bool(fact.detail)}{fact.detail}` is called"
            yield _note(body_codes.SLURM_COMMAND, fact.line, text)
    srun = [use for use in script.body.assignments if _holds_srun(use)]
    for assignment in srun:
        text = f"srun is held in `{assignment.name}`"
        yield _note(body_codes.STEP, assignment.line, text)


def _holds_srun(assignment) -> bool:
    return assignment.holds() in ("srun", "mpirun", "mpiexec")


def _variables(script: Script) -> Iterator[Note]:
    own = {assignment.name for assignment in script.body.assignments}
    for fact in script.facts:
        if fact.kind != "slurm-variable" or fact.text in SAME_IN_A_STEP or fact.text in own:
            continue
        if fact.text == "SLURM_SUBMIT_DIR" and script.settings.submit_folder:
            continue
        if fact.text == "SLURM_JOB_NAME":
            continue  # exported in front of the script
        if fact.text in _OF_THE_TASKS and script.request.tasks is not None:
            continue
        if fact.text in _OF_THE_CPUS and script.request.cpus_per_task is not None:
            continue
        where = f", {fact.detail}" if fact.detail else ""
        text = f"`{fact.text}` is read{where}, and a step has another one or none"
        yield _note(body_codes.VARIABLE, fact.line, text)


def _itself(script: Script) -> Iterator[Note]:
    for use in script.body.reads("0", "BASH_SOURCE"):
        if not use.quoted:
            yield _note(body_codes.SELF, use.line, f"`${use.name}` is the script's own path")
            return


def hetjob(script: Script) -> Note:
    count = len(script.header.components)
    return _note(codes.HETJOB, None, f"the job has {count} parts with demands of their own")


def parts(script: Script) -> tuple[Note, ...]:
    """What each part of a heterogeneous job asks for, in sbatch's own words."""
    found = []
    for number, component in enumerate(script.header.components):
        demands = ", ".join(f"{name}={value}" for name, value in sorted(component.settings.items()))
        found.append(Note(None, codes.HETJOB.name, f"part {number}: {demands or 'nothing'}"))
    return tuple(found)


def _line(script: Script, *names: str) -> int | None:
    """The line of the first of these options that was given."""
    for name in names:
        given = script.component.last(name)
        if given is not None:
            return given.line
    return None


def _flags(flags: tuple[str, ...]) -> str:
    return f" ({' '.join(flags)})" if flags else ""
