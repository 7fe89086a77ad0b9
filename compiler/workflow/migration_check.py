"""`triplane migrate --check`: the task rendered back to sbatch, and both compared."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from compiler.diagnostics import Diagnostics
from compiler.diagnostics.codes.migration import CHECK
from compiler.migration.checking import Comparison, Verdict, compare, worst
from compiler.migration.reading.header import read
from compiler.migration.reading.options import option_table
from compiler.migration.result import Migration, Note, Status
from compiler.migration.settings import Settings
from compiler.rendering.filetree import NATIVE_SCRIPT, FileTree, combine

_CLUSTER = "here"
_SECONDS = 30.0
_AWAY = ("configuration source", "Unable to contact", "Connection refused", "SLURM_CONF")
CODE = CHECK.name
_FROM_WORST = (Verdict.WEAKER, Verdict.DIFFERENT, Verdict.STRONGER, Verdict.EQUAL)


@dataclass(frozen=True, slots=True)
class Checked:
    """`rows` compare field by field; `controller` is what the real one says of the two."""

    rows: tuple[Comparison, ...]
    verdict: Verdict
    faults: tuple[str, ...] = ()
    controller: tuple[str, ...] = ()


def check(migration: Migration, settings: Settings, *, ask: bool = False) -> Checked | None:
    """Compare a result with its script; None where there is no task, or several of them, each
    of which is compared by itself. With `ask`, `sbatch --test-only` is asked as well, if there
    is one."""
    if migration.yaml is None or migration.parts:
        return None
    rendered, faults = render_task(migration, settings)
    if rendered is None:
        return Checked((), Verdict.DIFFERENT, faults)
    header = read(rendered, option_table(settings.version))
    if header.refusal is not None or not header.components:
        why = header.refusal.message if header.refusal else "nothing was read"
        return Checked((), Verdict.DIFFERENT, (*faults, f"sbatch would refuse it: {why}"))
    rows = compare(
        migration.request,
        header.components[0].settings,
        kept=migration.status is Status.KEPT,
        name=migration.request.get("job-name") or Path(migration.path).name,
    )
    answers = _ask(migration, rendered) if ask else ()
    return Checked(rows, worst(rows), faults, answers)


def checked(results: Iterator[Migration], settings: Settings) -> Iterator[Migration]:
    """The results, each with a note that says how its task compares."""
    ask = shutil.which("sbatch") is not None
    for migration in results:
        yield _noted(migration, settings, ask)


def _noted(migration: Migration, settings: Settings, ask: bool) -> Migration:
    if migration.parts:
        parts = tuple(_noted(part, settings, ask) for part in migration.parts)
        verdicts = {part.check for part in parts}
        worst_of = next((item for item in _FROM_WORST if str(item) in verdicts), None)
        return replace(migration, parts=parts, check=worst_of and str(worst_of))
    found = check(migration, settings, ask=ask)
    if found is None:
        return migration
    notes = (*migration.notes, *notes_of(found))
    return replace(migration, notes=notes, check=str(found.verdict))


def notes_of(found: Checked) -> Iterator[Note]:
    yield Note(None, CODE, f"what sbatch understands of script and task is {found.verdict}")
    for fault in found.faults:
        yield Note(None, CODE, f"the task cannot be rendered: {fault}")
    for row in found.rows:
        if row.verdict is not Verdict.EQUAL:
            why = f" ({row.note})" if row.note else ""
            text = f"{row.field}: {row.verdict}: {row.script or 'nothing'} in the script, "
            yield Note(None, CODE, f"{text}{row.task or 'nothing'} in the task{why}")
    for answer in found.controller:
        yield Note(None, CODE, answer)


def render_task(migration: Migration, settings: Settings) -> tuple[str | None, tuple[str, ...]]:
    """The sbatch script of the task on a cluster without a configuration of its own."""
    from compiler import model, source
    from compiler.placement.accelerators import names_of, resolve_accelerators
    from compiler.targets.interface import Job
    from compiler.targets.registry import target_of

    assert migration.yaml is not None
    found = Diagnostics()
    cluster = settings.cluster or _CLUSTER
    stack_text = (
        f"set: {{name: check, inputs: []}}\ntargets:\n  {cluster}: {{kind: slurm, "
        f"gres: {settings.gres_style}}}\n"
    )
    stack = model.build_stack(source.read_text(stack_text, "stack.yaml", found)[0], found)
    documents = source.read_text(migration.yaml, "task.yaml", found)
    task = model.build_task(documents[0], found, environ={}) if documents else None
    if task is None or stack is None or found.has_errors:
        return None, tuple(item.message for item in found.sorted())
    task = resolve_accelerators(task, names_of(stack), found)
    if migration.status is Status.KEPT and task.native_script is None:
        # A part of a heterogeneous job: its demands are compared as if they stood alone.
        task = replace(task, native_script=Path(migration.path).name)
    with tempfile.TemporaryDirectory() as folder:
        job = Job(
            stack=stack,
            target=stack.targets[cluster],
            task=task,
            work=task.name or "task",
            resources=task.resources.candidates[0],
            run=1,
            spec_digest="0" * 64,
            files_digest=combine(()),
            trees=_trees(migration, Path(folder)),
        )
        artifacts = target_of(stack.targets[cluster].kind).render(job, found)
    if not artifacts or found.has_errors:
        return None, tuple(item.message for item in found.sorted())
    return artifacts[0].text, ()


def _trees(migration: Migration, folder: Path) -> tuple[FileTree, ...]:
    """The kept script: the one that would be written, else the one that was read."""
    if migration.status is not Status.KEPT:
        return ()
    path = Path(migration.path).absolute()
    if migration.script is not None:
        path = folder / "script.sh"
        path.write_bytes(migration.script)
    return (FileTree(NATIVE_SCRIPT, "0" * 64, str(path), files={"": "0"}),)


def _ask(migration: Migration, rendered: str) -> tuple[str, ...]:
    """What `sbatch --test-only` says of both; nothing is submitted."""
    answers = []
    texts = [("task", rendered.encode("utf-8", "surrogateescape"))]
    path = Path(migration.path)
    if path.is_file():
        texts.insert(0, ("script", path.read_bytes()))
    for what, text in texts:
        try:
            done = subprocess.run(
                ["sbatch", "--test-only"],
                input=text,
                capture_output=True,
                timeout=_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            answers.append(f"the controller did not answer about the {what}: {error}")
            continue
        words = " ".join((done.stderr or done.stdout).decode("utf-8", "replace").split())[:300]
        if done.returncode and any(sign in words for sign in _AWAY):
            return ("no controller answers the sbatch on the PATH: it was not asked",)
        word = "takes" if done.returncode == 0 else "refuses"
        answers.append(f"the controller {word} the {what}: {words}")
    return tuple(answers)
