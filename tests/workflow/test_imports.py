"""What a command loads: nothing that it does not use, so that it starts at once."""

import json

import pytest

NEVER = ("pulumi", "pulumi_aws", "kubernetes", "fabric", "paramiko", "ruamel", "rich")

DUMP = """
import json, sys
from compiler.cli.main import main
code = main(sys.argv[1:])
sys.stderr.write(json.dumps([code, sorted({name.split(".")[0] for name in sys.modules})]))
"""


@pytest.mark.parametrize(
    "words",
    [
        ("validate", "tasks", "stack.yaml"),
        ("render", "--stack", "stack.yaml", "--every-target", "--out", "out"),
        ("apply", "--stack", "stack.yaml", "--auto-approve", "--quiet"),
    ],
    ids=lambda words: words[0],
)
def test_a_command_loads_no_platform_s_client(project, words):
    import subprocess
    import sys

    from tests.workflow.project import TOP

    project.stack()
    project.task("train", secrets={"TOKEN": None})
    done = subprocess.run(
        [sys.executable, "-c", DUMP, *words],
        cwd=project.folder,
        env={"PYTHONPATH": str(TOP), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    code, loaded = json.loads(done.stderr.splitlines()[-1])
    assert code == 0, done.stderr
    assert [name for name in NEVER if name in loaded] == []
    if words[0] == "validate":
        assert "jinja2" not in loaded
