"""Many scripts at once, and the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from compiler.cli.main import main
from compiler.migration import folders
from compiler.migration.folders import Job, discover, place
from compiler.migration.reporting import html_page, markdown
from compiler.migration.reporting.summary import Summary
from compiler.migration.result import Status
from compiler.migration.settings import Settings
from compiler.workflow import load_stack, migrate, migrate_script, migration_settings, write_report

GOOD = "#!/bin/bash\n#SBATCH --time=10\n./x\n"
BAD = "#!/bin/bash\n#SBATCH --nodes=N\n./x\n"


@pytest.fixture
def scripts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "scripts"
    for name, text in {
        "a.sh": GOOD,
        "b/a.slurm": GOOD,
        "b/a.sh": GOOD,
        "bad.sh": BAD,
        "notes.txt": "nothing about jobs",
        ".hidden.sh": GOOD,
        "template.py": "print('''#SBATCH --time=1''')\n",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "binary").write_bytes(b"\0\1#SBATCH")
    return folder


def test_what_is_a_script(scripts: Path):
    found = [path.removeprefix("scripts/") for path in discover(["scripts"])]
    assert found == ["a.sh", "bad.sh", "template.py", "b/a.sh", "b/a.slurm"]
    assert list(discover(["scripts/notes.txt"])) == ["scripts/notes.txt"]


def test_where_results_go(scripts: Path):
    jobs = place(list(discover(["scripts"])), ["scripts"], "out")
    assert {job.path: job.yaml for job in jobs} == {
        "scripts/a.sh": "out/a.yaml",
        "scripts/bad.sh": "out/bad.yaml",
        "scripts/template.py": "out/template.yaml",
        "scripts/b/a.sh": "out/b/a.sh.yaml",
        "scripts/b/a.slurm": "out/b/a.slurm.yaml",
    }


def test_one_bad_file_stops_nothing(scripts: Path):
    (scripts / "c.sh").mkdir()
    (scripts / "dangling.sh").symlink_to("nowhere")
    found = list(
        migrate(["scripts", "scripts/c.sh/x.sh", "scripts/dangling.sh"], out="out").results
    )
    status = {item.path: item.status for item in found}
    assert status["scripts/bad.sh"] is Status.REFUSED
    assert status["scripts/c.sh/x.sh"] is status["scripts/dangling.sh"] is Status.UNREADABLE
    assert status["scripts/a.sh"] is Status.TRANSLATED
    assert sorted(str(path) for path in Path("out").rglob("*.yaml")) == [
        *("out/a.yaml", "out/b/a.sh.yaml", "out/b/a.slurm.yaml"),
    ]


def test_a_file_that_may_not_be_read(scripts: Path, monkeypatch: pytest.MonkeyPatch):
    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", refuse)
    found = next(migrate(["scripts/a.sh"]).results)
    assert (found.status, found.notes[0].message) == (Status.UNREADABLE, "Permission denied")


def test_several_processes_give_the_same_in_the_same_order(scripts: Path):
    for number in range(60):
        (scripts / f"n{number:02}.sh").write_text(GOOD.replace("10", str(number + 1)))
    alone = list(migrate(["scripts"]).results)
    together = list(migrate(["scripts"], workers=2).results)
    assert alone == together
    assert len(alone) == 65


def test_a_process_that_dies_takes_only_its_file_with_it(
    scripts: Path, monkeypatch: pytest.MonkeyPatch
):
    parts: list[int] = []

    def dying(waiting, settings, workers):
        """A pool whose second part ends its process."""
        while waiting:
            part = waiting.popleft()
            parts.append(len(part))
            if len(parts) == 2:
                return part
            yield from folders._part(part, settings)
        return ()

    monkeypatch.setattr(folders, "_pool", dying)
    monkeypatch.setattr(folders, "_alone", lambda job, settings: folders.one(job, settings))
    jobs = [Job("scripts/a.sh")] * 50
    found = list(folders.run(jobs, Settings(), 2))
    assert len(found) == 50
    assert {item.status for item in found} == {Status.TRANSLATED}


def test_an_internal_error_is_a_result(scripts: Path, monkeypatch: pytest.MonkeyPatch):
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr(folders, "migrate", broken)
    found = next(migrate(["scripts/a.sh"]).results)
    assert found.status is Status.UNREADABLE
    assert "RuntimeError: boom" in found.notes[0].message


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xfe\x00#!",
        b"#!/bin/bash\n#SBATCH " + b"-" * 5000,
        b"#!/bin/bash\n#SBATCH --comment=" + b"(" * 3000 + b"\n" + b"$(" * 3000,
        b"#!/bin/bash\n#SBATCH -n1\n" + b"if true; then\n" * 2000,
        b"#!/bin/bash\n#SBATCH --nodes=99999999999999999999\nx\n",
        b"#!/bin/bash\n#SBATCH --nodelist=n[0-99999999]\nx\n",
        b"#!/bin/bash\n#SBATCH --job-name=\x1b[31m\nx\n",
        "#!/bin/bash\n#SBATCH --job-name=\u2028é\ud83d\ude00\nx\n".encode("utf-8", "surrogatepass"),
    ],
)
def test_hostile_scripts(data: bytes):
    found = migrate_script(data, "job.sh")
    markdown.report(found)
    "".join(html_page.page([found], Summary())).encode("utf-8", "replace")


def test_html_and_markdown_show_text_as_text():
    data = b"#!/bin/bash\n#SBATCH --comment='<script>|`x`'\n#SBATCH --job-name='<b>'\n./x\n"
    found = migrate_script(data, "job.sh")
    page = "".join(html_page.page([found], Summary()))
    assert "<script>" not in page and "<b>" not in page
    rows = [line for line in markdown.report(found).splitlines() if line.startswith("| 2 ")]
    assert rows[0].replace("\\|", "").count("|") == 7


def test_a_stack_names_cluster_and_gpus(tmp_path: Path):
    path = tmp_path / "stack.yaml"
    path.write_text(
        "set: {name: s, inputs: []}\n"
        "targets: {alpha: {kind: slurm, version: '23.11'}, prod: {kind: kubernetes, context: p}}\n"
        "config: {slurm: {gpu_partition_map: {H100: hopper, A100: [old, older]}}}\n"
    )
    from compiler.diagnostics import Diagnostics

    stack = load_stack(str(path), Diagnostics())
    settings = migration_settings(stack=stack)
    assert (settings.cluster, settings.version) == ("alpha", "23.11")
    data = b"#!/bin/bash\n#SBATCH --gres=gpu:2 -p hopper\npython x.py\n"
    found = migrate_script(data, "job.sh", settings)
    assert found.status is Status.TRANSLATED
    task = yaml.safe_load(found.yaml or "")
    assert task["resources"]["accelerators"] == "H100:2"
    assert task["resources"]["infra"] == "slurm/alpha/hopper"
    assert found.entries[0].code == "migrate-gpu-from-stack"


# --- the command line


def test_one_script_to_standard_output(scripts: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["migrate", "scripts/a.sh"]) == 0
    out, err = capsys.readouterr()
    assert yaml.safe_load(out)["run"].endswith("./x\n")
    assert "becomes a task" in err


def test_a_folder_with_a_report(scripts: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["migrate", "scripts", "--out", "out", "--report", "r.json", "--jobs", "1"]) == 1
    out, _ = capsys.readouterr()
    assert "5 scripts" in out
    report = json.loads(Path("r.json").read_text())
    assert (report["kind"], report["format_version"]) == ("migration", "1.0")
    assert report["summary"]["by_status"] == {"generator": 1, "refused": 1, "translated": 3}
    assert [item["script"] for item in report["scripts"]] == list(discover(["scripts"]))
    for name in ("r.md", "r.html", "r.txt"):
        assert main(["migrate", "scripts", "--report", name, "--jobs", "1"]) == 1
        assert "bad.sh" in Path(name).read_text()


def test_json_to_standard_output(scripts: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["migrate", "scripts/a.sh", "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["scripts"][0]["yaml"].startswith("# yaml-language-server")


def test_a_command_line(scripts: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["migrate", "--out", "out", "--", "sbatch", "-N2", "scripts/a.sh", "x"]) == 0
    task = yaml.safe_load(Path("out/a.yaml").read_text())
    assert task["num_nodes"] == 2
    assert task["config"]["triplane"] == {
        "native_script": "scripts/a.sh",
        "native_arguments": ["x"],
    }
    assert main(["migrate", "--out", "out", "--", "srun", "-n2", "./x"]) == 0
    assert Path("out/x.kept.sh").read_text() == "#!/bin/bash\nsrun ./x\n"
    capsys.readouterr()


def test_wrong_usage(scripts: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["migrate"]) == 64
    assert main(["migrate", "scripts", "--report", "r.pdf"]) == 64
    assert main(["migrate", "scripts/a.sh", "--submit-dir", "here"]) == 64
    assert main(["migrate", "--", "sbatch", "--nodes=x", "job.sh"]) == 64
    assert main(["migrate", "nothing.sh"]) == 1
    capsys.readouterr()


def test_a_check_says_how_the_task_compares(scripts: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["migrate", "scripts/a.sh", "--check", "--submit-dir", "@script"]) == 0
    assert "what sbatch understands of script and task is equal" in capsys.readouterr().err


def test_the_copy_of_a_kept_script_has_no_secret(scripts: Path, capsys: pytest.CaptureFixture[str]):
    token = "hf_" + "a1" * 17
    (scripts / "s.sh").write_text(f"#!/bin/bash\n#SBATCH -n2\nexport HF_TOKEN={token}\nsrun ./x\n")
    assert main(["migrate", "scripts/s.sh", "--out", "out", "--format", "json"]) == 0
    task = yaml.safe_load(Path("out/s.yaml").read_text())
    assert task["secrets"] == {"HF_TOKEN": None}
    assert task["config"]["triplane"]["native_script"] == "out/s.kept.sh"
    written = [path.read_text() for path in Path("out").iterdir()] + [capsys.readouterr().out]
    assert not any(token in text for text in written)
    assert 'export HF_TOKEN="${HF_TOKEN}"\n' in Path("out/s.kept.sh").read_text()


def test_the_page_has_what_the_text_has(scripts: Path):
    (scripts / "d.sh").write_text(
        "#!/bin/bash\n#SBATCH --ntasks=1 --comment='<b>|`x`'\n"
        "export HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz0123\nsrun python '<script>'\n"
    )
    pieces: list[str] = []
    stream = type("Stream", (), {"write": lambda _, text: pieces.append(text)})()
    write_report(migrate(["scripts/d.sh"]).results, "html", stream, single=True)
    page = "".join(pieces)
    assert "hf_abc" not in page and "<script>" not in page and "<b>" not in page
    for text in ("Changed in the text", "<code>srun</code>", "HF_TOKEN", "Scripts: 1"):
        assert text in page
    assert "<span>name: d</span>" in page


@pytest.mark.parametrize(("out", "small"), [("out/", "out-smoke"), (".", "smoke")])
def test_variants_lie_in_a_folder_of_their_own(scripts: Path, out: str, small: str):
    (scripts / "e.sh").write_text(
        "#!/bin/bash\n#SBATCH -N 2\nexport HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz0123\nsrun ./x\n"
    )
    words = ["migrate", "scripts/e.sh", "--smoke", "-q"]
    assert main(words) == 64
    assert main([*words, "--out", out]) == 0
    whole, variant = (yaml.safe_load(Path(f, "e.yaml").read_text()) for f in (out, small))
    assert (whole["num_nodes"], variant.get("num_nodes")) == (2, None)
    scripts_of = [task["config"]["triplane"]["native_script"] for task in (whole, variant)]
    assert scripts_of[0] == scripts_of[1] and Path(scripts_of[0]).is_file()
