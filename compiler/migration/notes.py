"""What is to be said about a script beside its directives: lines that sbatch does not read,
what a new place has to offer, and constructions that mean something else there."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import Code
from compiler.diagnostics.codes import migration as codes
from compiler.diagnostics.codes import migration_body as body_codes
from compiler.migration.directives import folder_of
from compiler.migration.reading.lines import Why
from compiler.migration.result import Note
from compiler.migration.script import Script

_WHY = {
    Why.LATE: "it stands behind the first command, line {first}, where sbatch has stopped reading",
    Why.INDENTED: "it does not begin in the first column",
    Why.COMMENTED: "it is commented out",
    Why.SPACED: "a blank stands between # and SBATCH",
    Why.MISSPELT: "the word is not #SBATCH",
    Why.BEHIND_SEPARATOR: "what stands behind the separator of a heterogeneous job is not read",
}
_DELIBERATE = (Why.COMMENTED,)


def notes(script: Script, moves: bool = False) -> tuple[Note, ...]:
    """Everything, sorted by line. `moves`: the script leaves Slurm."""
    found = [
        *_ignored(script),
        *_header(script),
        *_submission(script, moves),
        *_constructs(script),
    ]
    if script.settings.target != "slurm":
        found += _elsewhere(script)
    return tuple(sorted(found, key=lambda note: (note.line or 0, note.code, note.message)))


def note_of(code: Code, line: int | None, message: str, hint: str | None = None) -> Note:
    """A note of this code; its hint is the code's own fix unless another one is given."""
    return Note(line, code.name, message, code.fix if hint is None else hint)


def _ignored(script: Script) -> Iterator[Note]:
    for item in script.header.lines.ignored:
        if item.why is Why.LATE and script.body.in_heredoc(item.line):
            continue
        reason = _WHY[item.why].format(first=script.first_command)
        text = f"sbatch does not read `{item.text.strip()[:100]}`: {reason}"
        hint = "" if item.why in _DELIBERATE else None
        yield note_of(codes.IGNORED_LINE, item.line, text, hint)


def _header(script: Script) -> Iterator[Note]:
    if script.header.old_magic is not None:
        line = script.header.old_magic
        yield note_of(codes.OLD_MAGIC, line, "a line that begins with #SLURM is in force")
    manager = script.header.foreign
    if manager is not None:
        given = [g for g in script.component.given if g.magic == manager.magic]
        if given:
            text = f"{manager.magic} lines are in force: sbatch translates those of {manager.name}"
            yield note_of(codes.FOREIGN, given[0].line, text)
        for item in given:
            if item.magic == "#BSUB" and item.name == "time" and (item.value or "").count(":") == 1:
                text = f"`{item.value}` is hours and minutes to LSF, and {item.normal} to sbatch"
                yield note_of(codes.FOREIGN_TIME, item.line, text)


def _submission(script: Script, moves: bool) -> Iterator[Note]:
    """What the submitting shell adds: folder, arguments, variables."""
    if moves:
        yield note_of(
            body_codes.SUBMIT_FOLDER,
            None,
            "relative paths start in ~/sky_workdir, no longer in the folder of the submission",
            "Bring the folder along: `workdir: DIR`.",
        )
    elif folder_of(script) is None and script.header.components:
        yield note_of(
            body_codes.SUBMIT_FOLDER,
            None,
            "where the job starts is not in the script: it is the folder that sbatch is called in",
        )
    arguments = [fact for fact in script.facts if fact.kind == "arguments"]
    if arguments and not script.settings.arguments:
        names = ", ".join(dict.fromkeys(fact.text for fact in arguments))
        text = f"the script reads {names}, and no argument is given"
        yield note_of(body_codes.ARGUMENTS, arguments[0].line, text)
    own = {assignment.name for assignment in script.body.assignments}
    for name, line in _required(script):
        if name not in own and not name.startswith(("SLURM_", "SBATCH_")):
            text = f"`{name}` has to be set by whoever submits the script"
            yield note_of(body_codes.SUBMIT_VARIABLE, line, text)
    if any(fact.kind == "module" for fact in script.facts):
        line = next(fact.line for fact in script.facts if fact.kind == "module")
        export = script.options.get("export", "ALL").upper()
        if export == "ALL" and not script.interpreter.login and not moves:
            text = "`module` comes from the environment of the shell that submits the job"
            yield note_of(
                body_codes.ENVIRONMENT,
                line,
                text,
                "See that it is there in a shell over SSH, or source its set-up in the script.",
            )


def _required(script: Script) -> Iterator[tuple[str, int]]:
    """Variables of `${NAME:?...}`."""
    root = script.body.root
    if root is None or ":?" not in script.text:
        return
    pending = [root]
    while pending:
        node = pending.pop()
        if node.type == "expansion" and any(child.type in (":?", "?") for child in node.children):
            name = next((c for c in node.children if c.type == "variable_name"), None)
            if name is not None and name.text is not None:
                yield name.text.decode("utf-8", "replace"), node.start_point[0] + 1
        pending.extend(node.children)


def _constructs(script: Script) -> Iterator[Note]:
    for assignment in script.body.assignments:
        value = assignment.value.text if assignment.value else ""
        if "PORT" in assignment.name.upper() and "SLURM_JOB" in value:
            name = assignment.name
            text = f"`{name}` comes from the job's number, elsewhere the run's (1, 2, ...)"
            hint = "Elsewhere a fixed port will do: every run has its own addresses there."
            yield note_of(body_codes.CONSTRUCT, assignment.line, text, hint)
    for use in script.body.reads("SLURM_GPUS_PER_NODE"):
        text = "`SLURM_GPUS_PER_NODE` may hold a type as well (a100:4), and is no number then"
        yield note_of(body_codes.CONSTRUCT, use.line, text, "Use SLURM_GPUS_ON_NODE.")
        return


def _elsewhere(script: Script) -> Iterator[Note]:
    """What the target of another kind does not have."""
    target = script.settings.target
    for code, kind, text in (
        (body_codes.MODULES, "module", "modules that {target} does not have: {names}"),
        (body_codes.PATHS, "path", "paths that {target} does not have: {names}"),
    ):
        facts = [fact for fact in script.facts if fact.kind == kind]
        if facts:
            names = ", ".join(dict.fromkeys(fact.text for fact in facts))
            yield note_of(code, facts[0].line, text.format(target=target, names=names))
