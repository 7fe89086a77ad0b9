"""One script in, one result out: pure, and never raising for what a script holds."""

from __future__ import annotations

from pathlib import PurePosixPath

from compiler.diagnostics.codes import migration as codes
from compiler.diagnostics.codes import migration_body as body_codes
from compiler.migration import decide, demands
from compiler.migration.chains import Chain, Look, as_pipeline, chain_of
from compiler.migration.comments import comments_of
from compiler.migration.composing import compose
from compiler.migration.containers import Container
from compiler.migration.directives import map_directives
from compiler.migration.draft import Draft, task_name
from compiler.migration.editing import Change, apply, edits, take_out
from compiler.migration.groups import as_group
from compiler.migration.mapping import Mapping
from compiler.migration.moved import Moved
from compiler.migration.notes import notes
from compiler.migration.reading.options import OptionTable, option_table
from compiler.migration.result import (
    Edit,
    Entry,
    FoundSecret,
    Migration,
    Note,
    Path,
    Status,
)
from compiler.migration.running import run_text
from compiler.migration.script import Script, take_apart
from compiler.migration.scrubbing import about_secrets, scrub
from compiler.migration.settings import Settings
from compiler.migration.shell.secrets import private_keys
from compiler.migration.smoke import smoke_of
from compiler.migration.steps import plain_steps

_SUFFIXES = (".sh", ".slurm", ".sbatch", ".job", ".sub", ".bash", ".cmd", ".run", ".batch")
KEPT = ".kept.sh"


def kept_name(path: str) -> str:
    """What the copy of a script is called from which something was taken out."""
    return f"{_stem(path)}{KEPT}"


def migrate(
    data: bytes,
    path: str,
    settings: Settings,
    table: OptionTable | None = None,
    look: Look | None = None,
) -> Migration:
    """The result for one script. `path` is shown, and names the task where nothing else does.

    `look` reads another script, which a chain of submissions names; None where there is none.
    """
    table = table or option_table(settings.version)
    script = take_apart(data, path, settings, table)
    chain = chain_of(script)
    if chain is not None and look is not None:
        return _chain(script, chain, table, look)
    status, why = _what_it_is(script)
    if status is Status.BY_HAND:
        grouped = _grouped(script, why)
        if grouped is not None:
            return grouped
    if status is not None:
        said = _ignored(script) if status is Status.REFUSED else notes(script)
        parts = decide.parts(script) if status is Status.BY_HAND else ()
        found = Migration(
            path=path,
            status=status,
            target=settings.target,
            notes=(why, *parts, *said),
            facts=script.facts,
            request=dict(script.options),
        )
        return scrub(found, [secret.value for secret in script.secrets])
    return scrub(_migrated(script), [secret.value for secret in script.secrets])


def _what_it_is(script: Script) -> tuple[Status | None, Note]:
    """The status of what is no job that could be written as a task; None for a job."""
    refusal = script.header.refusal
    if script.is_generator:
        text = "its #SBATCH lines stand in text that it writes"
        return Status.GENERATOR, _note(codes.GENERATOR, None, text)
    if refusal is not None:
        hint = codes.REFUSED.fix
        if script.is_template:
            hint = "It looks like a template: migrate what is made of it."
        return Status.REFUSED, Note(refusal.line, codes.REFUSED.name, refusal.message, hint)
    if not script.header.lines.directives and not script.settings.command:
        return Status.NO_JOB, _note(codes.NO_JOB, None, "there is no directive in it")
    if len(script.header.components) > 1:
        return Status.BY_HAND, decide.hetjob(script)
    return None, Note(None, "", "")


def _note(code, line: int | None, text: str) -> Note:
    return Note(line, code.name, text, code.fix)


def _ignored(script: Script) -> tuple[Note, ...]:
    return tuple(note for note in notes(script) if note.code == codes.IGNORED_LINE.name)


def _grouped(script: Script, why: Note) -> Migration | None:
    """A heterogeneous job as a group; None where it cannot be one."""
    whole = Migration(script.path, Status.KEPT, script.settings.target, notes=(why,))

    def write(part: Script, runs: bool) -> Migration:
        return scrub(_migrated(part, runs), [secret.value for secret in part.secrets])

    return as_group(script, whole, write)


def _chain(script: Script, chain: Chain, table: OptionTable, look: Look) -> Migration:
    """A driver that submits one script behind the other, as a pipeline if that is the same."""

    def write(data: bytes, path: str, settings: Settings) -> Migration:
        return migrate(data, path, settings, table)

    found = as_pipeline(script, chain, look, write)
    return scrub(found, [secret.value for secret in script.secrets])


def _migrated(script: Script, runs: bool = True) -> Migration:
    """The task of a script; without `runs` its demands alone."""
    settings = script.settings
    reasons = decide.reasons(script)
    keeps = settings.keep or bool(reasons)
    if settings.target != "slurm" and not settings.keep:
        from compiler.migration.elsewhere import translate

        moved, reasons = translate(script, reasons)
        keeps = moved is None
    else:
        moved = None if keeps else Moved(changes=list(plain_steps(script).values()))
    draft = Draft()
    draft.put(("name",), task_name(_stem(script.path)))
    on_slurm = settings.target == "slurm" or keeps
    if on_slurm:
        draft.put(
            ("resources", "infra"), f"slurm/{settings.cluster}" if settings.cluster else "slurm"
        )
    elif settings.target == "kubernetes":
        draft.put(("resources", "infra"), "k8s")
    else:
        draft.put(("resources", "infra"), "aws")
    if not keeps and on_slurm:
        # What sbatch gives where nothing is said: a CPU, and the memory that goes with it. The
        # dialect's own defaults are others.
        draft.put(("resources", "cpus"), 1)
        draft.put(("resources", "memory"), 0)
    map_directives(Mapping(script, draft, keeps, on_slurm))
    if settings.name is not None:
        draft.put(("name",), settings.name)
    if moved is not None and moved.container is not None:
        _put_image(draft, moved.container)
    if draft.get(("resources", "memory")) == 0 and not keeps:
        draft.comments[("resources", "memory")] = "not asked for: the partition's default"
    if not runs:
        return _demands_only(script, draft)
    changes, secrets = take_out(script, body_codes.SECRET.name)
    keys = private_keys(script.text)
    needed = {secret.name: None for secret in secrets if secret.in_use}
    if needed:
        draft.put(("secrets",), needed)
    said = sorted(
        [*notes(script, not on_slurm), *about_secrets(secrets, keys)],
        key=lambda note: note.line or 0,
    )
    sanitised = _write_body(script, draft, changes, keeps, moved, said)
    if keys or any(not secret.taken_out for secret in secrets):
        return _by_hand(script, draft, reasons, said, secrets)
    comments, inline = comments_of(script, draft)
    try:
        yaml, lines = compose(draft.ordered(), comments, inline)
    except ValueError as error:
        said.insert(0, _note(codes.UNWRITABLE, None, str(error)))
        return _by_hand(script, draft, reasons, said, secrets)
    return Migration(
        path=script.path,
        status=Status.KEPT if keeps else Status.TRANSLATED,
        target=settings.target,
        name=draft.task["name"],
        entries=_with_lines(draft.entries, lines),
        reasons=reasons if keeps else (),
        notes=tuple(said),
        facts=script.facts,
        secrets=secrets,
        edits=_edits(script, changes, moved),
        request=dict(script.options),
        yaml=yaml,
        smoke=smoke_of(script, draft, comments) if settings.smoke else None,
        script=sanitised,
    )


def _put_image(draft: Draft, container: Container) -> None:
    """The image of the script's containers is the task's."""
    path = ("resources", "image_id")
    draft.put(path, container.image or f"docker:{demands.UNKNOWN}")
    if container.image is None:
        draft.comments[path] = f"decide: which image of a registry {container.shown} is"


def _demands_only(script: Script, draft: Draft) -> Migration:
    """A part of a job that has nodes, and runs nothing by itself."""
    text = "it has no `run`: the first part's script starts processes on its nodes"
    yaml, lines = compose(draft.ordered(), [], comments_of(script, draft)[1])
    return Migration(
        path=script.path,
        status=Status.KEPT,
        target=script.settings.target,
        name=draft.task["name"],
        entries=_with_lines(draft.entries, lines),
        notes=(_note(codes.HETJOB, None, text),),
        request=dict(script.options),
        yaml=yaml,
        smoke=smoke_of(script, draft, []) if script.settings.smoke else None,
    )


def _write_body(
    script: Script,
    draft: Draft,
    changes: list[Change],
    keeps: bool,
    moved,
    said: list[Note],
) -> bytes | None:
    """`run`, or the script that is kept; returns the latter where it had to be changed."""
    settings = script.settings
    if not keeps:
        extra = moved.lines if moved is not None else []
        more = [*changes, *(moved.changes if moved is not None else [])]
        text = run_text(script, more, extra, settings.target == "slurm")
        draft.put(("run",), text)
        if moved is not None:
            said.extend(moved.notes)
        return None
    path = kept_name(script.path) if changes or settings.made else script.path
    draft.put(("config", "triplane", "native_script"), path)
    if settings.arguments:
        draft.put(("config", "triplane", "native_arguments"), list(settings.arguments))
    if settings.submit_folder is not None:
        draft.put(("envs", "SLURM_SUBMIT_DIR"), settings.submit_folder)
    if script.job_name != draft.task["name"]:
        draft.put(("envs", "SLURM_JOB_NAME"), script.job_name)
    if not changes and not settings.made:
        return None
    return apply(script.text.encode("utf-8", "surrogateescape"), changes)


def _by_hand(
    script: Script,
    draft: Draft,
    reasons: tuple[Note, ...],
    said: list[Note],
    secrets: tuple[FoundSecret, ...],
) -> Migration:
    return Migration(
        path=script.path,
        status=Status.BY_HAND,
        target=script.settings.target,
        name=draft.task["name"],
        entries=tuple(draft.entries),
        reasons=reasons,
        notes=tuple(said),
        facts=script.facts,
        secrets=secrets,
        request=dict(script.options),
    )


def _edits(script: Script, changes: list[Change], moved) -> tuple[Edit, ...]:
    more = moved.changes if moved is not None else []
    data = script.text.encode("utf-8", "surrogateescape")
    return edits(data, [*changes, *more])


def _with_lines(entries: list[Entry], lines: dict[Path, int]) -> tuple[Entry, ...]:
    found = []
    for entry in sorted(entries, key=lambda entry: entry.line):
        line = lines.get(entry.path) if entry.path is not None else None
        found.append(
            Entry(
                entry.line,
                entry.directive,
                entry.outcome,
                entry.code,
                entry.message,
                entry.path,
                line,
            )
        )
    return tuple(found)


def _stem(path: str) -> str:
    """The task's name by the script's file: without what says that it is a script."""
    name = PurePosixPath(path).name
    for suffix in _SUFFIXES:
        if name.endswith(suffix) and name != suffix:
            return name.removesuffix(suffix)
    return name or "job"
