"""Reading directives as sbatch does, and checking scripts."""

import dataclasses

import pytest

from compiler.diagnostics import Diagnostics
from compiler.targets.slurm import TARGET
from compiler.targets.slurm.directives import Unreadable, directive, header, words
from compiler.targets.slurm.paths import login_word
from tests.unit.slurm_jobs import make_job
from tests.unit.test_rendering_quoting import LINES, bash


@pytest.mark.parametrize("text", LINES)
def test_directives_read_back(text: str) -> None:
    line = directive("comment", text)
    assert words(line.removeprefix("#SBATCH")) == [f"--comment={text}"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (" --nodes=2", ["--nodes=2"]),
        ("--mail-type=END", ["--mail-type=END"]),
        (" -N 2 -n 4 # four", ["-N", "2", "-n", "4"]),
        (" --a=b#c", ["--a=b"]),
        (r" --a=b\#c\ d", ["--a=b#c", "d"]),  # as sbatch 22.05 does: the blank still ends it
        (""" --a="b #'c" -d'e "f'""", ["--a=b #'c", '-de "f']),
        (r' --a="b\"c\\d"', ['--a=b"c\\d']),
        ('\t--a=""\t', ["--a="]),
        (" '' -n 2", []),  # sbatch stops at a word of empty quotes
        (" -J x hetjob -n 2", ["-J", "x"]),
        (" --a=b\\", ["--a=b"]),
        ("", []),
        (" # only a comment", []),
    ],
)
def test_words(line: str, expected: list[str]) -> None:
    assert words(line) == expected


@pytest.mark.parametrize("line", [' --a="b', " --a='b", '"'])
def test_open_quotes_are_refused(line: str) -> None:
    with pytest.raises(Unreadable):
        words(line)


def test_reading_stops_at_the_first_command() -> None:
    text = "#!/bin/sh\n#SBATCH -N2\n\n  # comment\n #SBATCH -N3\n#SBATCH -n4\ntrue\n#SBATCH -N9\n"
    assert list(header(text)) == [(2, ["-N2"]), (6, ["-n4"])]


def test_line_breaks_have_no_form() -> None:
    with pytest.raises(ValueError, match="line break"):
        directive("comment", "a\nb")


FAULTS = [
    ("#!/bin/bash\n", "# no magic\n", "the first line is no `#!`"),
    ("--nodes=1\n", "--nodes=1 --nodes=2\n", "2 words where one option is meant"),
    ("--nodes=1\n", "--nodez=1\n", "no option `--nodez`"),
    ("--nodes=1\n", "--segment=1\n", "no option `--segment`"),
    ("--nodes=1\n", "--nodes=1\n#SBATCH --nodes=1\n", "`--nodes` again"),
    ("--nodes=1\n", "--nodes\n", "wrong kind of value"),
    ("--no-requeue\n", "--no-requeue=1\n", "wrong kind of value"),
    ("--nodes=1\n", '--nodes="1\n', "cannot be read"),
    ('exit "$CODE"\n', "exit $(\n", "matching"),
    ("CODE=0\n", "CODE=0\r\n", "DOS line break"),
    ("CODE=0\n", "CODE=0\n" + "# x\n" * (1 << 20), "4 MiB"),
    ("--nodes=1\n", "--nodes=1\ncat <<'TRIPLANE_1'\nfi\n", "here-document"),
]


@pytest.mark.parametrize(("old", "new", "word"), FAULTS, ids=[word for *_, word in FAULTS])
def test_faults_of_a_script_are_found(old: str, new: str, word: str) -> None:
    job = make_job("name: x\nrun: x\n")
    (artifact,) = TARGET.render(job, Diagnostics())
    assert list(TARGET.verify(artifact, job.target)) == []
    assert old in artifact.text
    broken = dataclasses.replace(artifact, text=artifact.text.replace(old, new))
    messages = [item.message for item in TARGET.verify(broken, job.target)]
    assert any(word in message for message in messages), messages
    assert all(message.startswith(artifact.path) for message in messages)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("~", "/home/me"),
        ("~/a b", "/home/me/a b"),
        ("rel/x", "/home/me/rel/x"),
        ("/s/$USER/x", "/s/me/x"),
        ("$S/x", "/scratch/x"),
        ("${S}y", "/scratchy"),
        ('/a"`id`$(id)\\', '/a"`id`$(id)\\'),
        ("/s/~/x", "/s/~/x"),
        ("/s/$1/$", "/s/$1/$"),
    ],
)
def test_paths_of_the_login(path: str, expected: str) -> None:
    script = f"HOME=/home/me USER=me S=/scratch\nprintf %s {login_word(path)}"
    assert bash(script) == expected.encode()
