"""`python -m bench.corpus CHECKOUT [LIST]`: public examples, rendered for each target.

CHECKOUT is a folder with SkyPilot's examples, LIST a table whose first column names files in it
(else: all YAML files below `examples/` and `llm/`). Every file is validated, then rendered for a
Kubernetes, a Slurm and an AWS target, with values for variables that have none, and
stand-ins for what it brings along. Writes docs/corpus.md, the table of examples x targets
x outcome, and exits 1 where a file brings triplane down. Where SkyPilot's environment is there
(`python -m tests.dialect install`), its verdict stands in the table, and a difference that
docs/dialect.md does not explain counts as well.
"""

from __future__ import annotations

import dataclasses
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from compiler import __version__
from compiler.diagnostics import Diagnostic, Diagnostics, InvalidInput, Severity
from compiler.model import Overrides

TARGETS = {
    "kubernetes": '{kind: kubernetes, version: "1.34", labels: skypilot}',
    "slurm": '{kind: slurm, version: "23.11", workdir: /shared}',
    "aws": "{kind: aws, files: {bucket: s3://demo}}",
}
# Keys of targets: the second part of `infra`. A region of AWS is its target's key.
_KEYS = {"kubernetes": "lab", "slurm": "alpha", "aws": "us-east-1"}
_PAGE = Path(__file__).parent.parent / "docs" / "corpus.md"


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """What became of one file: a word for validation, one a target, SkyPilot's verdict."""

    path: str
    kind: str
    skypilot: str
    validated: str
    rendered: dict[str, str]


def files(checkout: Path, listed: str | None) -> list[str]:
    """The files to look at, relative to the checkout, that are there."""
    if listed is None:
        found = [path for top in ("examples", "llm") for path in (checkout / top).rglob("*.yaml")]
        return sorted(str(path.relative_to(checkout)) for path in found)
    lines = Path(listed).read_text(encoding="utf-8").splitlines()
    names = (line.partition("\t")[0] for line in lines)
    return sorted(name for name in names if (checkout / name).is_file())


def look_at(name: str, text: str, verdict: str) -> Row:
    """Validate one file and render it for every target."""
    from tests.dialect.bases import question
    from tests.dialect.judging import judge
    from tests.dialect.purposes import is_on_purpose

    env = dict(question(name, text).env)
    judged = judge(text, env)
    if judged.meaning is not None:
        said = "accepted" if verdict != "refused" else "accepted (DIFFERS)"
    else:
        codes = sorted({error.code for error in judged.errors})
        on_purpose = verdict != "accepted" or is_on_purpose(judged.errors)
        said = ", ".join(codes) + ("" if on_purpose else " (DIFFERS)")
    rendered = {}
    if judged.meaning is not None and "tasks" in judged.meaning:
        tasks = judged.meaning["tasks"]
        rendered = {kind: _rendered(text, env, tasks, kind) for kind in TARGETS}
    return Row(name, str(judged.kind), verdict, said, rendered)


def _rendered(text: str, env: dict[str, str], tasks: list[dict[str, Any]], kind: str) -> str:
    """How many files, and what is lost; or why there are none."""
    from compiler.workflow import load_stack, render

    secrets = {name for task in tasks for name, value in task["secrets"].items() if value is None}
    overrides = Overrides(
        env=tuple(env.items()), secret=tuple((name, "given") for name in sorted(secrets))
    )
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "task.yaml").write_text(text, encoding="utf-8")
        _stand_ins(Path(folder), text, tasks)
        targets = "".join(f"  {key}: {TARGETS[kind]}\n" for key in _keys(tasks, kind))
        Path(folder, "stack.yaml").write_text(
            f"set: {{name: corpus}}\ntargets:\n{targets}", encoding="utf-8"
        )
        before = Path.cwd()
        os.chdir(folder)
        try:
            diagnostics = Diagnostics()
            loaded = load_stack("stack.yaml", diagnostics)
            diagnostics.raise_if_errors()
            assert loaded is not None
            inputs = ["task.yaml", *map(str, sorted(Path().glob("volume-*.yaml")))]
            result = render(inputs, loaded, overrides=overrides, environ={"HOME": folder})
        except InvalidInput as error:
            wrong = [item for item in error.diagnostics if item.severity is Severity.ERROR]
            return "refused: " + ", ".join(
                sorted({reason for item in wrong for reason in _why(item)})
            )
        finally:
            os.chdir(before)
    losses = sorted({item.code for item in result.diagnostics if item.target})
    return f"{len(result.artifacts)} files" + (f"; {', '.join(losses)}" if losses else "")


def _why(found: Diagnostic) -> Iterator[str]:
    """The code, and the fields that the target refuses: they stand in the message."""
    fields = re.findall(r"`([a-z_.]+)` on (?:Kubernetes|Slurm|AWS)", found.message)
    for related in found.related:
        fields += re.findall(r"`([a-z_.]+)` on (?:Kubernetes|Slurm|AWS)", related.message)
    yield f"{found.code} ({', '.join(sorted(set(fields)))})" if fields else found.code


def _keys(tasks: list[dict[str, Any]], kind: str) -> list[str]:
    """The targets that the tasks may name: contexts, clusters or regions."""
    found = {_KEYS[kind]}
    for task in tasks:
        for one in task["resources"]:
            if one["cloud"] in (kind, None):
                zone = one["zone"] if kind == "aws" else None
                found |= {one["region"] or (zone[:-1] if zone else _KEYS[kind])}
    return sorted(found)


def _stand_ins(folder: Path, text: str, tasks: list[dict[str, Any]]) -> None:
    """Files in place of those that an example brings along, volumes for those that it names."""
    sources: list[object] = []
    for task in tasks:
        sources += [task["workdir"], *task["file_mounts"].values()]
        for storage in task["storage"].values():
            source = storage["source"]
            sources += source if isinstance(source, list) else [source]
    for source in sources:
        if isinstance(source, str) and "://" not in source and not source.startswith("/"):
            place = folder / source.removeprefix("~/")
            if folder in place.resolve().parents:
                place.mkdir(parents=True, exist_ok=True)
    for document in yaml.safe_load_all(text):
        volumes = document.get("volumes") if isinstance(document, dict) else None
        for value in (volumes or {}).values():
            name = value.get("name") if isinstance(value, dict) else value
            if isinstance(name, str):
                (folder / f"volume-{name}.yaml").write_text(
                    f"name: {name}\ntype: k8s-pvc\nsize: 10Gi\n"
                    "config: {access_mode: ReadWriteMany, storage_class_name: shared}\n"
                )


def main(words: list[str]) -> int:
    if not words:
        print("usage: python -m bench.corpus CHECKOUT [LIST]", file=sys.stderr)
        return 64
    checkout = Path(words[0]).resolve()
    names = files(checkout, words[1] if len(words) > 1 else None)
    texts = {
        name: (checkout / name).read_text(encoding="utf-8", errors="replace") for name in names
    }
    verdicts = _verdicts(texts)
    before = Path.cwd()
    os.chdir(checkout)
    try:
        rows = [
            look_at(name, text, verdicts.get(name, "not asked")) for name, text in texts.items()
        ]
    finally:
        os.chdir(before)
    _PAGE.write_text(page(rows), encoding="utf-8")
    differing = [row.path for row in rows if "DIFFERS" in row.validated]
    print(f"{len(rows)} files; {len(differing)} differ from SkyPilot without a reason")
    for path in differing:
        print(f"  {path}")
    return 1 if differing else 0


def _verdicts(texts: dict[str, str]) -> dict[str, str]:
    """SkyPilot's own, where its environment is there."""
    from tests.dialect import environment
    from tests.dialect.asking import ask
    from tests.dialect.bases import question
    from tests.dialect.recording import verdict

    if not environment.is_made():
        return {}
    answers = ask(question(name, text) for name, text in texts.items())
    words = {"+": "accepted", "-": "refused", "!": "breaks down"}
    return {name: words[verdict(answer)] for name, answer in answers.items()}


def page(rows: list[Row]) -> str:
    """The table as a page of the documentation."""
    taken = [row for row in rows if row.rendered]
    lines = [
        "# SkyPilot's examples",
        "",
        "<!-- Written by `python -m bench.corpus CHECKOUT`. -->",
        "",
        f"{len(rows)} public example files of SkyPilot (another half is kept for acceptance), as",
        f"triplane {__version__} validates them and renders them for one target of each kind with",
        "nothing configured. Variables and secrets without a value are given one; empty folders",
        "and volumes of the name stand for what an example brings along.",
        "",
        "| | rendered | refused |",
        "|---|---|---|",
    ]
    for kind in TARGETS:
        refused = sum(row.rendered[kind].startswith("refused") for row in taken)
        lines.append(f"| {kind} | {len(taken) - refused} | {refused} |")
    lines += [
        "",
        "| file | kind | SkyPilot 0.14.1 | validate | Kubernetes | Slurm | AWS |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        cells = [row.rendered.get(kind, "") for kind in TARGETS]
        lines.append(
            f"| {row.path} | {row.kind} | {row.skypilot} | {row.validated} | {' | '.join(cells)} |"
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
