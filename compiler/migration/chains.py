"""Drivers that submit one script behind the other, as pipelines.

A pipeline starts a task when the one before it has succeeded: `--dependency=afterok` of the job
before. Only drivers that come to exactly that are resolved; of all others it is said what stands
in the way.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from compiler.diagnostics import WrongUsage
from compiler.diagnostics.codes import migration as codes
from compiler.migration.comments import header_comments
from compiler.migration.draft import task_name
from compiler.migration.notes import note_of
from compiler.migration.reading.command_line import CommandLine, read_command
from compiler.migration.result import Entry, Migration, Note, Outcome, Status
from compiler.migration.script import Script
from compiler.migration.scrubbing import without
from compiler.migration.settings import Settings
from compiler.migration.several import joined
from compiler.migration.shell.body import Command, Context
from compiler.migration.shell.words import Word

_MOST = 200
Look = Callable[[str], bytes | None]
Writer = Callable[[bytes, str, Settings], Migration]

_PLAIN = frozenset({Context.SUBSTITUTION, Context.PIPE, Context.REDIRECTED})
_FILTERS = frozenset({"awk", "gawk", "cut", "sed", "tr", "grep", "head", "tail"})
_HARMLESS = _FILTERS | {"echo", "printf", "sleep", "date", "set", "squeue", "exit", "true", "pwd"}
_PREPARING = frozenset({"mkdir", "rm", "cp", "touch"})
_DEPENDENCY = re.compile(r"--dep[a-z]*(?:=(?P<long>.*))?|-d(?P<short>.*)", re.DOTALL)
_AFTER = re.compile(r"(?P<how>[a-z]+):\$\{?(?P<name>\w+)(?:#+\* )?\}?")
_READS = re.compile(r"\$\{?(\w+)")


@dataclass(frozen=True, slots=True)
class Submission:
    """One call of sbatch: its `words` without the dependency, and that as written."""

    command: Command
    words: tuple[str, ...]
    dependency: str | None = None


@dataclass(frozen=True, slots=True)
class Chain:
    """Submissions in the order of the text, and why they are no pipeline (nothing: they are)."""

    submissions: tuple[Submission, ...]
    obstacles: tuple[Note, ...]
    preparing: tuple[Note, ...] = ()


def chain_of(script: Script) -> Chain | None:
    """The chain that a driver submits; None for a job, and for what chains nothing."""
    if script.header.lines.directives or script.settings.command or "sbatch" not in script.text:
        return None
    calls = [command for command in script.body.commands if command.name == "sbatch"]
    if len(calls) < 2 or not any(_depends(word) for call in calls for word in call.arguments):
        return None
    if any(script.body.in_heredoc(item.line) for item in script.header.lines.ignored):
        return None  # it writes the scripts as well
    submissions, obstacles = [], list(_other_commands(script))
    if len(calls) > _MOST:
        obstacles.append(_note(calls[_MOST], f"more than {_MOST} scripts are submitted"))
    for call in calls[:_MOST]:
        found = _submission(call)
        obstacles += found if isinstance(found, list) else []
        submissions += [] if isinstance(found, list) else [found]
    if not obstacles:
        obstacles += _order(script, submissions)
    preparing = tuple(
        _note(command, f"`{_shown(command)}` is done by the driver: do it before the pipeline")
        for command in script.body.commands
        if command.name in _PREPARING
    )
    return Chain(tuple(submissions), tuple(obstacles), preparing)


def as_pipeline(script: Script, chain: Chain, look: Look, write: Writer) -> Migration:
    """The pipeline, or a result without a task that says why there is none."""
    whole = Migration(script.path, Status.BY_HAND, script.settings.target, facts=script.facts)
    obstacles = list(chain.obstacles)
    parts: list[Migration] = []
    for submission in chain.submissions if not obstacles else ():
        found = _part(script, submission, {part.name for part in parts}, look, write)
        if isinstance(found, Note):
            obstacles.append(found)
        else:
            parts.append(found)
    if obstacles:
        text = "it submits scripts that wait for one another, and is no pipeline as it stands"
        obstacles.sort(key=lambda note: note.line or 0)
        return replace(whole, notes=(note_of(codes.CHAIN, None, text), *obstacles))
    text = f"it submits {len(parts)} scripts, each when the one before it has succeeded"
    either = "Where they are migrated as files of their own too, apply either those or this one."
    notes = (note_of(codes.CHAIN, None, text, either), *chain.preparing)
    header = {"name": task_name(PurePosixPath(script.path).stem)}
    values = [secret.value for secret in script.secrets]
    comments = [without(line, values) for line in header_comments(script)]
    return joined(replace(whole, notes=notes), header, comments, parts)


def _note(command: Command, text: str) -> Note:
    return note_of(codes.CHAIN, command.line, text)


def _shown(command: Command) -> str:
    return " ".join(word.text for word in command.words)[:80]


def _depends(word: Word) -> re.Match[str] | None:
    return _DEPENDENCY.fullmatch(word.text)


def _other_commands(script: Script) -> Iterator[Note]:
    """What the driver does besides; a pipeline has no place for it."""
    for assignment in script.body.assignments:
        if assignment.exported:
            text = f"`{assignment.name}` is handed to the jobs: put it into their `envs`"
            yield note_of(codes.CHAIN, assignment.line, text)
    for command in script.body.commands:
        name = command.name
        if name == "sbatch" or name in _HARMLESS or name in _PREPARING:
            if name == "sbatch" and command.contexts - _PLAIN:
                where = ", ".join(sorted(command.contexts - _PLAIN))
                yield _note(command, f"sbatch is called in a {where}")
            if name == "sbatch" and command.assignments:
                yield _note(command, f"`{command.assignments[0]}` is set for this job alone")
        elif not (name in ("cd", "dirname") and _is_own_folder(command)):
            yield _note(command, f"`{_shown(command)}` is called as well")


def _is_own_folder(command: Command) -> bool:
    text = command.words[-1].text
    return "$0" in text or "${BASH_SOURCE" in text or "$BASH_SOURCE" in text


def _submission(command: Command) -> Submission | list[Note]:
    words: list[str] = ["sbatch"]
    dependency: str | None = None
    arguments = iter(command.arguments)
    for word in arguments:
        match = _depends(word)
        if match is not None:
            value = match["long"] if match["long"] is not None else match["short"] or None
            following = next(arguments, None) if value is None else None
            dependency = (
                (value or (following.text if following else "")).replace('"', "").lstrip("=")
            )
        elif word.literal is None:
            return [_note(command, f"`{word.text}` is known only when the driver runs")]
        else:
            words.append(word.literal)
    return Submission(command, tuple(words), dependency)


def _order(script: Script, submissions: list[Submission]) -> Iterator[Note]:
    """Whether each submission waits for the success of the one before it, and for that alone."""
    for number, submission in enumerate(submissions):
        text = submission.dependency
        if number == 0:
            if text is not None:
                yield _note(submission.command, f"the first one waits as well: `{text}`")
            continue
        if text is None:
            yield _note(submission.command, "it waits for none of the others")
            continue
        match = _AFTER.fullmatch(text)
        if match is None:
            yield _note(submission.command, f"`{text}` is not the success of a single job")
        elif match["how"] != "afterok":
            what = f"`{match['how']}` starts it whatever became of the one before"
            yield _note(submission.command, what if match["how"] == "afterany" else f"`{text}`")
        elif _held(script, submissions, match["name"], submission) != number - 1:
            yield _note(submission.command, f"`{text}` is not the submission before it")


def _held(script: Script, submissions: list[Submission], name: str, at: Submission) -> int | None:
    """Which submission's number the variable holds at this place."""
    holds: dict[str, int] = {}
    for assignment in script.body.assignments:
        value = assignment.value
        if value is None or value.end > at.command.start:
            continue
        inside = [
            number
            for number, submission in enumerate(submissions)
            if value.start <= submission.command.start < value.end
        ]
        read = [holds[found] for found in _READS.findall(value.text) if found in holds]
        holds.pop(assignment.name, None)
        if len(inside) == 1:
            holds[assignment.name] = inside[0]
        elif not inside and len(set(read)) == 1:
            holds[assignment.name] = read[0]  # the number out of what sbatch has said
    return holds.get(name)


def _part(
    script: Script, submission: Submission, names: set[str], look: Look, write: Writer
) -> Migration | Note:
    """The task of one submission, or why there is none."""
    command = submission.command
    try:
        line: CommandLine = read_command(submission.words, script.settings.version)
    except WrongUsage as error:
        return _note(command, str(error))
    if line.script is None:
        return _note(command, "its command stands in --wrap: write it into a script")
    path = str(PurePosixPath(script.path).parent / line.script)
    data = look(path)
    if data is None:
        return _note(command, f"`{path}` is not there")
    settings = replace(script.settings, command=line.options, arguments=line.arguments)
    part = write(data, path, settings)
    name, number = part.name, 2
    while part.yaml is not None and part.name in names:
        part = write(data, path, replace(settings, name=f"{name}-{number}"))
        number += 1
    if part.yaml is None:
        return _note(command, f"`{path}` cannot become a task by itself: {part.status}")
    if part.script is not None:
        return _note(command, f"`{path}` holds a secret: take it out first")
    if submission.dependency is None:
        return part
    text = "the task before it in the pipeline"
    shown = f"--dependency={submission.dependency}"
    waits = Entry(0, shown, Outcome.TRANSLATED, codes.CHAIN.name, text)
    return replace(part, entries=(*part.entries, waits))
