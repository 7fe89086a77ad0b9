"""Reading what observe.sh prints, and finding every run in it."""

from __future__ import annotations

import dataclasses
import io
import json
import tarfile

import pytest

from compiler.diagnostics import WorkFailed
from compiler.planning.records import Record, Stage
from compiler.planning.states import REMOVED, RunState
from compiler.targets.slurm.deployer import records
from compiler.targets.slurm.deployer.observe import look
from compiler.targets.slurm.deployer.remote import Answer, encoded
from compiler.targets.slurm.deployer.snapshot import Accounting, parse


def record(run: int = 1, work: str = "train", **more: object) -> Record:
    base = Record(
        set="demo",
        work=work,
        run=run,
        target="alpha",
        kind="slurm",
        name=f"demo.{work}.{run}.abcdef01",
        spec_digest="abcdef01" * 8,
        files_digest="f",
        stage=Stage.CREATED,
        identity=str(100 + run),
    )
    return dataclasses.replace(base, **more)


def files(**texts: str) -> str:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, text in texts.items():
            member = tarfile.TarInfo(name)
            if text == "folder":
                member.type = tarfile.DIRTYPE
                archive.addfile(member)
            else:
                member.size = len(text.encode())
                archive.addfile(member, io.BytesIO(text.encode()))
    return f"files|{encoded(buffer.getvalue())}"


def see(*lines: str):
    snapshot = parse(Answer("\n".join(["now|1000", "base|/home/alice", *lines])))
    return look(snapshot, "demo", "alpha")


def row(run: int, state: str, **more: str) -> str:
    values = {
        "id": str(100 + run),
        "state": state,
        "reason": "None",
        "submitted": "900",
        "nodes": "alpha-c1",
        "partition": "gpu",
        "limit": "1-00:00:00",
        "qos": "normal",
        "account": "research",
        "nice": "0",
        "name": f"demo.train.{run}.abcdef01",
        **more,
    }
    return "queue|" + "|".join(values.values())


def test_a_live_run():
    (seen,) = see(
        files(**{"records/train.1.json": record().to_json()}),
        row(1, "PENDING", reason="Resources", nodes=""),
        "accounting|on|",
    )
    assert seen.record == seen.written == record()
    assert (seen.verdict.state, seen.verdict.detail) == (RunState.PENDING, "PENDING (Resources)")
    assert seen.queue is not None
    assert (seen.queue.submitted, seen.queue.time_limit) == (900, "1-00:00:00")


def test_rows_of_any_version_and_what_is_no_row():
    """A job's name may hold anything; heterogeneous jobs have a row for each member."""
    lines = [
        row(1, "RUNNING", id="101+0"),
        row(1, "RUNNING", id="101+1", name="demo.other.1.abcdef01"),
        row(2, "COMPLETED", id="102_0"),
        row(2, "PENDING", id="102_[2-3%2]"),
        row(2, "FAILED", id="102_1"),
        row(3, "RUNNING", name="demo.a|b.3.abcdef01"),
        "queue|too|short",
        "squeue: warning: something",
        "accounting|on|",
        "account|104|CANCELLED by 1000|0:15|None assigned|demo.train.4.abcdef01",
        "account|105|FAILED|4:0|alpha-c1|demo.train.5.abcdef01",
        "account|106|FAILED|0:9|alpha-c1|demo.train.6.abcdef01",
        "account|107|OUT_OF_MEMORY|0:125|alpha-c1|demo.train.7.abcdef01",
        "account|108|COMPLETED|0:0|alpha-c1|demo.train.8.abcdef01",
        "account|109|FAILED|1:0|None assigned|demo.train.9.abcdef01",
        "account|111_0|COMPLETED|0:0|alpha-c1|demo.train.11.abcdef01",
        "account|111_1|TIMEOUT|0:0|alpha-c1|demo.train.11.abcdef01",
        "account|111_2|COMPLETED|0:0|alpha-c1|demo.train.11.abcdef01",
        "account|110.batch|FAILED|4:0|alpha-c1|demo.train.10.abcdef01",
    ]
    seen = {item.key: item.verdict for item in see(*lines)}
    assert {key: (verdict.state, verdict.exit_code) for key, verdict in seen.items()} == {
        "a|b.3": (RunState.RUNNING, None),
        "train.1": (RunState.RUNNING, None),
        "train.2": (RunState.PENDING, None),
        "train.4": (RunState.CANCELLED, None),
        "train.5": (RunState.FAILED, 4),
        "train.6": (RunState.FAILED, 137),
        "train.7": (RunState.FAILED, None),
        "train.8": (RunState.SUCCEEDED, 0),
        "train.11": (RunState.TIMED_OUT, None),
    }


@pytest.mark.parametrize(
    ("status", "code"),
    [
        ("0", 0),
        ("768", 3),
        ("9", 137),
        ("139", 139),
        ("256", 1),
        ("0:0", 0),
        ("4:0", 4),
        ("0:9", 137),
    ],
)
def test_exit_codes_from_the_controller(status, code):
    """A raw wait status (with the core-dump bit, 128) up to 23.02, then code:signal."""
    state = "COMPLETED" if code == 0 else "FAILED"
    (seen,) = see(
        files(**{"records/train.1.json": record().to_json()}),
        row(1, state),
        "accounting|off|",
        f"exit|101|{status}",
    )
    assert seen.verdict.exit_code == code


def test_run_folders():
    (seen,) = see(
        files(
            **{
                "records/train.1.json": record().to_json(),
                "runs/train.1": "folder",
                "runs/train.1/job.sbatch": "#!/bin/bash\n",
                "runs/train.1/extra/a.sh": "true\n",
                "runs/train.1/started": "101 0\n101 1\nrubbish\n",
                "runs/train.1/ended": "7 101\n",
            }
        ),
        "accounting|off|",
    )
    assert seen.files is not None
    assert seen.files.started == (("101", 0), ("101", 1))
    assert seen.files.ended == (7, "101")
    assert (seen.verdict.state, seen.verdict.exit_code) == (RunState.FAILED, 7)
    assert seen.record == dataclasses.replace(
        record(), stage=Stage.ENDED, outcome="failed", exit_code=7
    )
    live = records.live_texts(
        dataclasses.replace(
            record(),
            files={"slurm/alpha/demo-train-1/job.sbatch": "x", "slurm/a/b/extra/a.sh": "y"},
        ),
        seen.files.texts,
    )
    assert live == {
        "slurm/alpha/demo-train-1/job.sbatch": "#!/bin/bash\n",
        "slurm/a/b/extra/a.sh": "true\n",
    }


@pytest.mark.parametrize("ended", ["", "7", "x 101", "7 101 more", "7 "])
def test_a_file_that_is_half_written_says_nothing(ended):
    (seen,) = see(
        files(
            **{
                "records/train.1.json": record().to_json(),
                "runs/train.1/started": "101 0\n",
                "runs/train.1/ended": ended,
            }
        ),
        "accounting|off|",
    )
    assert seen.verdict.state is RunState.VANISHED


def test_a_lost_record_is_restored_from_its_copy():
    whole = record(extra=True, spec={"run": "abc"}, plan="p")
    (seen,) = see(
        files(**{"runs/train.1": "folder", "runs/train.1/record.json": whole.to_json()}),
        row(1, "RUNNING"),
        "accounting|on|",
    )
    assert seen.record == whole
    assert seen.written is None


def test_a_lost_record_is_restored_from_the_job_s_name():
    (seen,) = see(row(3, "RUNNING", name="demo.a.b-c.3.abcdef01"), "accounting|off|")
    assert (seen.record.work, seen.record.run, seen.record.spec_digest) == ("a.b-c", 3, "abcdef01")
    assert (seen.record.identity, seen.record.stage) == ("103", Stage.CREATED)


def test_a_run_folder_alone_is_unknown():
    (seen,) = see(files(**{"runs/train.2": "folder"}), "accounting|on|")
    assert seen.verdict.state is RunState.UNKNOWN
    assert (seen.record.work, seen.record.run) == ("train", 2)


def test_an_intent_finds_its_job_by_name():
    intent = record(stage=Stage.INTENT, identity=None)
    kept = files(**{"records/train.1.json": intent.to_json()})
    (seen,) = see(kept, row(1, "PENDING"), "accounting|on|")
    assert seen.record == record()
    (seen,) = see(kept, "accounting|on|", "account|101|COMPLETED|0:0|c1|demo.train.1.abcdef01")
    assert (seen.record.identity, seen.record.outcome) == ("101", "succeeded")
    (seen,) = see(kept, "accounting|on|")
    assert not seen.verdict.submitted
    assert seen.record == dataclasses.replace(intent, outcome=REMOVED)


def test_a_run_that_is_being_removed_stays_an_intent():
    begun = record(stage=Stage.INTENT, plan="p2")
    kept = files(**{"records/train.1.json": begun.to_json()})
    for line in (row(1, "PENDING"), row(1, "CANCELLED")):
        (seen,) = see(kept, line, "accounting|off|")
        assert seen.record == begun


def test_a_requeued_run_is_opened_again():
    closed = record(stage=Stage.ENDED, outcome="failed", exit_code=1)
    (seen,) = see(
        files(**{"records/train.1.json": closed.to_json()}), row(1, "PENDING"), "accounting|off|"
    )
    assert seen.record == record()


def test_of_two_jobs_of_one_run_the_one_in_the_queue_counts():
    lines = [row(1, "CANCELLED", id="200"), row(1, "RUNNING", id="150"), "accounting|off|"]
    (seen,) = see(*lines)
    assert seen.record.identity == "150"


def test_records_are_ordered_by_work_and_number():
    kept = files(
        **{
            f"records/{item.run_key}.json": item.to_json()
            for item in (record(10), record(9), record(1, "eval"))
        }
    )
    assert [item.key for item in see(kept, "accounting|off|")] == ["eval.1", "train.9", "train.10"]


def test_a_broken_record_is_an_error():
    for text in ("", "{", "[]", json.dumps({"format_version": "2.0"})):
        with pytest.raises(WorkFailed, match=r"alpha: the record train\.1\.json"):
            see(files(**{"records/train.1.json": text}), "accounting|off|")


def test_accounting_states():
    for line, status in (("on|", "on"), ("off|x", "off"), ("away|sacct: error: refused", "away")):
        snapshot = parse(Answer(f"now|1\nbase|/b\naccounting|{line}\n"))
        assert snapshot.accounting is Accounting(status)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("demo.train.1.abcdef01", ("train", 1, "abcdef01")),
        ("demo.a.b.c.12.ab", ("a.b.c", 12, "ab")),
        ("demo.1.2.3", ("1", 2, "3")),
        ("demo.train.01.ab", None),
        ("demo.train.0.ab", None),
        ("demo.train.x.ab", None),
        ("demo.train.1.xyz", None),
        ("demo.train.1.abcdef012", None),
        ("demo.train.1", None),
        ("demo..1.ab", None),
        ("demo2.train.1.ab", None),
        ("other.train.1.ab", None),
        ("", None),
    ],
)
def test_job_names(name, expected):
    parsed = records.parse_job_name("demo", name)
    assert (parsed and (parsed.work, parsed.run, parsed.digest)) == expected
