"""The reader by itself: what is known of sbatch, without sbatch."""

from __future__ import annotations

import pytest

from compiler.diagnostics import WrongUsage
from compiler.migration.reading import amounts, hostlists, kinds
from compiler.migration.reading.command_line import read_command
from compiler.migration.reading.header import Header, read
from compiler.migration.reading.lines import Why
from compiler.migration.reading.numerals import Refused
from compiler.migration.reading.options import option_table
from compiler.migration.request import request_of

PLAIN = option_table("22.05", frozenset())


def _read(*lines: str, table=PLAIN) -> Header:
    return read("\n".join(["#!/bin/bash", *lines, "echo", ""]), table)


def _settings(*lines: str) -> dict[str, str]:
    found = _read(*lines)
    assert found.refusal is None, found.refusal
    return dict(found.components[0].settings)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("#SBATCH -N4", {"nodes": "4"}),
        ("#SBATCH --nodes 4", {"nodes": "4"}),
        ("#SBATCH--nodes=4", {"nodes": "4"}),
        ("#SBATCH -N4 -c2 -t05:00", {"nodes": "4", "cpus-per-task": "2", "time": "00:05:00"}),
        ("#SBATCH --tasks=2", {"ntasks-per-node": "2"}),
        ("#SBATCH --out=a --err b", {"output": "a", "error": "b"}),
        ("#SBATCH -array=1-45", {"array": "rray=1-45"}),
        ("#SBATCH -sH -J x", {"oversubscribe": "oversubscribe", "hold": "set", "job-name": "x"}),
        ("#SBATCH --comment='a #b' # c", {"comment": "a #b"}),
        (r"#SBATCH --comment=a\#b#c", {"comment": "a#b"}),
        ("#SBATCH --time=10 \\", {"time": "00:10:00"}),
        ("#SBATCH --mem=4gb", {"mem": "4G"}),
        ("#SBATCH --mem=0", {"mem": "0?"}),
        ("#SBATCH --nodes=2-4 --nodelist=n[1-3]", {"nodes": "3-4", "nodelist": "n[1-3]"}),
        ("#SBATCH --exclusive", {"exclusive": "exclusive"}),
        ("#SBATCH --verbose --wrap=ls", {}),
        ("#SLURM --nodes=2", {"nodes": "2"}),
    ],
)
def test_spellings(line: str, expected: dict[str, str]) -> None:
    assert _settings(line) == expected


def test_two_dashes_end_the_options_of_all_lines() -> None:
    refusal = _read("#SBATCH --", "#SBATCH --nodes=2").refusal
    assert refusal is not None and (refusal.line, refusal.option) == (3, "--nodes=2")


def test_a_value_may_stand_on_the_next_line() -> None:
    assert _settings("#SBATCH --job-name", "#SBATCH --nodes=2") == {"job-name": "--nodes=2"}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("#SBATCH --nodes=NODES", "number of nodes"),
        ("#SBATCH -n=32", "no number"),
        ("#SBATCH --job-name=Big run", "`run` is no option"),
        ("#SBATCH --partition= normal", "`normal` is no option"),
        ("#SBATCH --workdir=/x", "no option `--workdir`"),
        ("#SBATCH -R x", "no option `-R`"),
        ("#SBATCH --ntasks-per=2", "ambiguous"),
        ("#SBATCH --time=1:2:3:4", "no time"),
        ('#SBATCH --comment="x', "not closed"),
        ("#SBATCH --mem=1G --mem-per-cpu=1G", "exclude each other"),
        ("#SBATCH -N 2 : -N 3", "`:`"),
        ("#SBATCH --exclusive=maybe", "--exclusive"),
        ("#SBATCH –-nodes=2", "is no option"),
        ("#SBATCH --contiguous=yes", "takes no value"),
        ("#PBS -Z", "no option `-Z` of PBS"),
        ("#BSUB -P lab", "no option `-P` of LSF"),
    ],
)
def test_refusals_name_line_and_reason(line: str, words: str) -> None:
    found = _read("# a comment", line, "#SBATCH --account=x")
    assert found.refusal is not None
    assert found.refusal.line == 3
    assert words in found.refusal.message


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", None, "empty"),
        ("\n \n", None, "empty"),
        ("#SBATCH -N1\n", 1, "no `#!`"),
        ("\ufeff#!/bin/sh\n", 1, "byte order mark"),
        ("#!/bin/sh\necho\r\n", 2, "DOS"),
        ("#!/bin/sh\na\0b\n", 2, "NUL"),
    ],
)
def test_scripts_that_are_refused_as_a_whole(text: str, line: int | None, words: str) -> None:
    refusal = read(text, PLAIN).refusal
    assert refusal is not None
    assert (refusal.line, words in refusal.message) == (line, True)


def test_reading_stops_at_the_first_command() -> None:
    found = _read("#SBATCH -N2", "", "  # indented", "x=1", "#SBATCH -N3", "# SBATCH -N4")
    assert found.components[0].settings == {"nodes": "2"}
    assert found.lines.first_command == 5
    assert [(item.line, item.why) for item in found.lines.ignored] == [
        (6, Why.LATE),
        (7, Why.SPACED),
    ]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("##SBATCH --nodes=2", Why.COMMENTED),
        ("# SBATCH --nodes=2", Why.SPACED),
        ("# #SBATCH --nodes=2", Why.COMMENTED),
        ("  #SBATCH --nodes=2", Why.INDENTED),
        ("#BATCH --nodes=2", Why.MISSPELT),
        ("#sbatch --nodes=2", Why.MISSPELT),
        ("# BATCH sizes: 2", None),
        ("# the SBATCH lines above", None),
    ],
)
def test_lines_that_only_look_like_directives(line: str, why: Why | None) -> None:
    assert [item.why for item in _read(line).lines.ignored] == ([why] if why else [])


def test_later_components_inherit_some_options() -> None:
    found = _read(
        "#SBATCH --account=x --nodes=2 --time=10 --gres=gpu:1",
        "#SBATCH hetjob --mem=1G",
        "#SBATCH --ntasks=4",
    )
    first, second = (component.settings for component in found.components)
    assert first == {"account": "x", "nodes": "2", "time": "00:10:00", "gres": "gpu:1"}
    assert second == {"account": "x", "time": "00:10:00", "ntasks": "4"}
    assert [item.why for item in found.lines.ignored] == [Why.BEHIND_SEPARATOR]


def test_lines_of_other_managers_come_after_and_of_one_kind_only() -> None:
    lines = ("#PBS -l walltime=1:00:00", "#SBATCH --time=5", "#BSUB -W 10")
    assert _settings(*lines) == {"time": "00:10:00"}
    assert _settings(lines[0], lines[1]) == {"time": "01:00:00"}
    assert _settings(lines[0], lines[1] + " --ignore-pbs")["time"] == "00:05:00"
    assert _settings("x=1", "#PBS -N late") == {"job-name": "late"}


def test_options_of_plugins_are_known_unless_they_are_not_there() -> None:
    line = r"#SBATCH --container-image=nvcr.io\#nvidia/pytorch:24.01"
    assert _read(line).refusal is not None
    found = _read(line, table=option_table(None))
    assert found.components[0].settings["container-image"] == "nvcr.io#nvidia/pytorch:24.01"


def test_options_depend_on_the_version() -> None:
    line = "#SBATCH --tres-per-task=gpu:1"
    assert _read(line, table=option_table("22.05")).refusal is not None
    assert _read(line, table=option_table("23.11")).refusal is None


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("5", 300),
        ("5:30", 330),
        ("1:00:00", 3600),
        ("1-0", 86400),
        ("1-2:30", 95400),
        ("-1", amounts.UNLIMITED),
        ("12h", None),
        (":5", None),
        ("", None),
    ],
)
def test_times(text: str, seconds: int | None) -> None:
    assert amounts.seconds(text) == seconds


def test_mail_types_add_up() -> None:
    assert kinds.mail_types("END", "BEGIN") == "BEGIN,END"
    assert kinds.mail_types("none", "END") == "END"
    with pytest.raises(Refused):
        kinds.mail_types("never", None)


def test_host_lists() -> None:
    assert hostlists.hosts("a[01-03,7],b,c[1-2]x") == [
        *("a01", "a02", "a03", "a7", "b"),
        *("c1x", "c2x"),
    ]
    assert hostlists.ranged(["n1", "n2", "n4", "login"]) == "n[1-2,4],login"


@pytest.mark.parametrize(
    ("lines", "nodes", "tasks", "cpus", "memory", "gpus"),
    [
        (("--ntasks=8",), None, 8, None, None, None),
        (("--nodes=2 --ntasks-per-node=4 -c 2",), 2, 8, 8, None, None),
        (("--mem-per-cpu=2G -c 4",), 1, 1, 4, 8192, None),
        (("--nodes=2 --gpus=8",), 2, 2, None, None, (None, 4)),
        (("--nodes=2 --ntasks=4 --gpus-per-task=a100:2",), 2, 4, 2, None, ("a100", 4)),
        (("--gres=gpu:h100:4,nvme:300 --mem-per-gpu=10G",), 1, 1, None, 40960, ("h100", 4)),
        (("--mem=0",), 1, 1, None, 0, None),
        (("--nodes=2-4",), None, None, None, None, None),
    ],
)
def test_demands(lines, nodes, tasks, cpus, memory, gpus) -> None:
    request = request_of(_settings(*(f"#SBATCH {line}" for line in lines)))
    assert (request.node_count, request.task_count) == (nodes, tasks)
    assert (request.node_cpus, request.node_memory, request.node_gpus) == (cpus, memory, gpus)


def test_command_lines() -> None:
    line = read_command(["sbatch", "-N4", "--time=10", "job.sh", "a", "-x", "b c"])
    assert [(given.name, given.value) for given in line.options] == [("nodes", "4"), ("time", "10")]
    assert (line.script, line.arguments) == ("job.sh", ("a", "-x", "b c"))
    line = read_command(["/usr/bin/srun", "-n4", "--mpi=pmix", "./x", "a b"])
    assert line.text == "#!/bin/bash\nsrun --mpi=pmix ./x 'a b'\n"
    assert [given.name for given in line.options] == ["ntasks"]
    line = read_command(["sbatch", "--wrap", "echo hi"])
    assert line.text is not None and line.text.endswith("\n\necho hi\n")


@pytest.mark.parametrize(
    "words",
    [
        ["qsub", "job.sh"],
        ["sbatch"],
        ["sbatch", "--nodes=x", "job.sh"],
        ["sbatch", "--wrap=ls", "job.sh"],
        ["sbatch", "-N1", ":", "-N2", "job.sh"],
        ["salloc", "-N1"],
    ],
)
def test_command_lines_that_make_no_sense(words: list[str]) -> None:
    with pytest.raises(WrongUsage):
        read_command(words)
