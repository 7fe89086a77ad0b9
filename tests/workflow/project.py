"""A project in a temporary folder: a stack of directories, tasks, and the command line.

What the tests of the workflow and of the command line share. Nothing here reaches a platform:
every target has the directory deployer.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from compiler.cli.main import main
from tests.command_line import PROGRAM, TOP, Output

TARGETS: Mapping[str, Mapping[str, Any]] = {
    "alpha": {"kind": "slurm", "version": "23.11", "workdir": "/shared/triplane"},
    "eks": {"kind": "kubernetes", "version": "1.34", "context": "demo-eks", "labels": "karpenter"},
    "us-east-1": {"kind": "aws", "files": {"bucket": "s3://demo-triplane"}},
}


@dataclass
class Project:
    """`stack.yaml`, `tasks/` and `out/` in `folder`, which is the current one."""

    folder: Path
    capsys: pytest.CaptureFixture[str]
    monkeypatch: pytest.MonkeyPatch

    def stack(self, *keys: str, name: str = "stack.yaml", **more: Any) -> Path:
        """Write a stack with the targets `keys` (of TARGETS); `more` are keys of the file."""
        body = {
            "set": {"name": "demo", "inputs": ["tasks/"]},
            "out": "out",
            "targets": {key: dict(TARGETS[key]) for key in keys or TARGETS},
            **more,
        }
        return self.write(name, yaml.safe_dump(body, sort_keys=False))

    def task(self, name: str, folder: str = "tasks", **fields: Any) -> Path:
        """Write `<folder>/<name>.yaml`, a small CPU task unless `fields` say otherwise."""
        body = {"name": name, "resources": {"cpus": 2}, "run": f"echo {name}\n", **fields}
        return self.write(f"{folder}/{name}.yaml", yaml.safe_dump(body, sort_keys=False))

    def write(self, path: str, text: str) -> Path:
        place = self.folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode())
        return place

    def run(self, *words: object, piped: str | None = None) -> Output:
        """One command line in this process, with `piped` on its standard input."""
        self.capsys.readouterr()
        given = io.TextIOWrapper(io.BytesIO((piped or "").encode()))
        self.monkeypatch.setattr(sys, "stdin", given)
        code = main([str(word) for word in words])
        said = self.capsys.readouterr()
        assert "Traceback" not in said.out + said.err
        assert "internal error" not in said.out + said.err
        return Output(code, said.out, said.err)

    def plan(self, *words: object) -> Output:
        return self.run("plan", "--stack", "stack.yaml", *words)

    def plan_json(self, *words: object) -> Any:
        done = self.plan("--format", "json", *words)
        assert done.code == 0, done.text
        return done.json

    def apply(self, *words: object) -> Output:
        return self.run("apply", "--stack", "stack.yaml", "--auto-approve", "--quiet", *words)

    def applied(self, *words: object) -> Output:
        done = self.apply(*words)
        assert done.code == 0, done.text
        return done

    def process(self, *words: object, **options: Any) -> subprocess.CompletedProcess[str]:
        """One command line in a process of its own; `options` are those of subprocess.run."""
        environ = {**os.environ, "PYTHONPATH": str(TOP), **options.pop("env", {})}
        return subprocess.run(
            [*PROGRAM, *map(str, words)],
            **{
                "capture_output": True,
                "text": True,
                "timeout": 60,
                "cwd": self.folder,
                "check": False,
                "env": environ,
                **options,
            },
        )

    def files(self, out: str = "out") -> dict[str, str]:
        """The rendered files below `out`, without the state."""
        return {
            path: text for path, text in self.tree(out).items() if not path.startswith(".triplane")
        }

    def tree(self, out: str = "out") -> dict[str, str]:
        """Everything below `out`; what is no text by its digest."""
        return read_tree(self.folder / out)

    def records(self, out: str = "out") -> dict[str, Any]:
        """The records by `<set>/<target>/<run key>`."""
        return {
            path.removeprefix(".triplane/").removesuffix(".json"): json.loads(text)
            for path, text in self.tree(out).items()
            if path.startswith(".triplane/")
            and not path.startswith(".triplane/files/")
            and path.endswith(".json")
        }


def read_tree(folder: Path) -> dict[str, str]:
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            content = path.read_bytes()
            try:
                text = content.decode()
            except UnicodeDecodeError:
                text = hashlib.sha256(content).hexdigest()
            found[path.relative_to(folder).as_posix()] = text
    return found


def actions(plan: Any) -> dict[str, str]:
    """`work@target` to action, of a plan's JSON, without the targets' own files."""
    return {
        f"{item['work']}@{item['target']}": item["action"]
        for item in plan["works"]
        if not item["work"].startswith("_")
    }
