"""The published schemas in the programs that read them: check-jsonschema, yaml-language-server.

Both are installed from their registries, which only the long mode does.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from compiler.source import bundled, schema_names
from tests.dialect.bases import bases
from tests.dialect.editor import Editor

TOP = Path(__file__).parents[2]
PUBLISHED = TOP / "docs" / "schemas"
WRONG = {
    "task": ("num_nodess: 2\n", "run: [a]\n", "resources: {cpus: []}\n"),
    "stack": ("set: {name: x}\ntargets: {a: {kind: lsf}}\n",),
    "volume": ("name: a\ntype: nfs\n",),
    "group": ("name: a\nexecution: parallel\nprimary_tasks: a\n",),
}


def _right(folder: Path) -> dict[str, list[Path]]:
    """Valid files by schema. What checks one document a file gets each in a file below `folder`."""
    found: dict[str, list[Path]] = {"stack": sorted((TOP / "stacks").glob("*.yaml"))}
    texts = [path.read_text() for path in sorted((TOP / "examples").glob("*/*.yaml"))]
    texts += [base.text for base in bases()]
    for number, text in enumerate(texts):
        for at, document in enumerate(re.split(r"^---.*\n", text, flags=re.M)):
            data = yaml.safe_load(document)
            if data is None:
                continue
            kind = "volume" if "type" in data else "group" if "execution" in data else "task"
            path = folder / f"{number}-{at}.yaml"
            path.write_text(document)
            found.setdefault(kind, []).append(path)
    return found


def _references(node: object) -> list[str]:
    if isinstance(node, list):
        return [reference for item in node for reference in _references(item)]
    if not isinstance(node, dict):
        return []
    own = [node["$ref"]] if isinstance(node.get("$ref"), str) else []
    return own + [reference for value in node.values() for reference in _references(value)]


@pytest.mark.parametrize("name", schema_names())
def test_a_published_schema_needs_nothing_beside_it(name: str) -> None:
    published = json.loads((PUBLISHED / f"{name}.schema.json").read_text())
    assert published == bundled(name)
    Draft202012Validator.check_schema(published)
    for reference in _references(published):
        assert reference.startswith("#")
        place = published
        for step in reference[1:].split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            place = place[int(name) if isinstance(place, list) else name]


@pytest.mark.long
def test_check_jsonschema(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    pip = [tmp_path / "venv" / "bin" / "python", "-m", "pip", "--quiet", "install"]
    subprocess.run([*pip, "check-jsonschema"], check=True)
    checker = tmp_path / "venv" / "bin" / "check-jsonschema"
    right = _right(tmp_path)
    assert {"task", "group", "volume", "stack"} == right.keys()
    for name, files in right.items():
        schema = PUBLISHED / f"{name}.schema.json"
        subprocess.run([checker, "--schemafile", schema, *files], check=True)
    for name, texts in WRONG.items():
        for text in texts:
            path = tmp_path / "wrong.yaml"
            path.write_text(text)
            done = subprocess.run(
                [checker, "--schemafile", PUBLISHED / f"{name}.schema.json", path],
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 1 and "wrong.yaml" in done.stdout, text


@pytest.mark.long
def test_yaml_language_server(tmp_path: Path) -> None:
    subprocess.run(["npm", "install", "--silent", "yaml-language-server"], check=True, cwd=tmp_path)
    server = tmp_path / "node_modules" / ".bin" / "yaml-language-server"
    line = f"# yaml-language-server: $schema={(PUBLISHED / 'task.schema.json').as_uri()}\n"
    with Editor(server, tmp_path) as editor:
        assert editor.faults("right.yaml", f"{line}resources: {{cpus: 4+}}\nrun: echo\n") == []
        (fault,) = editor.faults("wrong.yaml", f"{line}num_nodess: 2\n")
        assert "num_nodess" in fault
        faults = editor.faults("deep.yaml", f"{line}config: {{gcp: {{vpc_name: 5}}}}\n")
        assert len(faults) == 1
        shown = editor.hover("hover.yaml", f"{line}resources:\n  accelerators: H100:8\n", 2, 4)
        assert "Accelerators of each node" in shown.replace("\\", "")
