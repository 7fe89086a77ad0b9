"""Comments of the script's header, which go into the YAML with what they are about."""

from __future__ import annotations

from compiler.migration.draft import Draft
from compiler.migration.result import Outcome, Path
from compiler.migration.script import Script
from compiler.migration.scrubbing import without
from compiler.targets.slurm.directives import scan


def comments_of(script: Script, draft: Draft) -> tuple[list[str], dict[Path, str]]:
    """(comments at the top, those beside values): the header's own, what values stand for, and
    what somebody has to decide on."""
    top = header_comments(script)
    beside: dict[Path, str] = dict(draft.comments)
    behind = trailing_comments(script)
    for entry in draft.entries:
        path = entry.path
        if path is None or path == ("run",):
            continue
        if entry.outcome is Outcome.DECISION:
            beside[path] = f"decide: {entry.message}"
        if entry.line in behind:
            own = behind.pop(entry.line)
            beside[path] = f"{own}; {beside[path]}" if path in beside else own
    directives = {entry.line: entry.directive for entry in reversed(draft.entries)}
    top += [
        f"{directives[line]}: {text}" if line in directives else text
        for line, text in behind.items()
    ]
    values = [secret.value for secret in script.secrets]
    return (
        [without(line, values) for line in top],
        {path: without(text, values) for path, text in beside.items()},
    )


def header_comments(script: Script) -> list[str]:
    """Comments of the header that are neither directives nor the shebang, as they stand."""
    lines = script.text.split("\n")
    last = (script.first_command or len(lines) + 1) - 1
    directives = {item.line for item in script.header.lines.directives}
    directives |= {item.line for item in script.header.lines.ignored}
    comments = []
    for number, line in enumerate(lines[:last], start=1):
        text = line.strip()
        if number == 1 and line.startswith("#!"):
            continue
        if number in directives or not text.startswith("#") or text.startswith(("#PBS", "#BSUB")):
            continue
        comments.append(text)
    while comments and not comments[-1].strip("# "):
        comments.pop()
    while comments and not comments[0].strip("# "):
        comments.pop(0)
    return comments


def trailing_comments(script: Script) -> dict[int, str]:
    """What stands behind `#` at the end of directives, by line."""
    found = {}
    for item in script.header.lines.directives:
        if "#" not in item.text:
            continue
        words = scan(item.text)
        rest = item.text[words[-1].end if words else 0 :].lstrip()
        comment = rest.lstrip("# \t").rstrip()
        if rest.startswith("#") and comment:
            found[item.line] = comment
    return found
