"""Input that wants to hurt: refused in bounded time and memory, with a code.

The bounds on time are generous, so that a busy machine passes; what is not bounded takes minutes
or for ever.
"""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from compiler.diagnostics import Diagnostics
from compiler.diagnostics.renderers import render
from compiler.source import check, detect, read_text, schema_for
from compiler.source.limits import MAX_DOCUMENTS, MAX_FILE_BYTES, MAX_FINDINGS

SECONDS = 30.0


def laughs(levels: int, width: int) -> str:
    lines = ["a0: &a0 [lol, lol]"]
    for level in range(1, levels):
        lines.append(f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * width)}]")
    return "\n".join(lines)


def merges(levels: int, width: int) -> str:
    lines = ["a0: &a0 {x: 1, y: 2}"]
    for level in range(1, levels):
        sources = ", ".join([f"*a{level - 1}"] * width)
        lines.append(f"a{level}: &a{level} {{<<: [{sources}], k{level}: 1}}")
    return "\n".join(lines)


def big_map(count: int) -> str:
    return ", ".join(f"k{n}: 1" for n in range(count))


HOSTILE = {
    "alias bomb": (laughs(12, 9), "too-many-values"),
    "deep alias bomb": (laughs(90, 3), "too-many-values"),
    "merge bomb": (merges(60, 9), None),
    "long merge chain": (merges(3000, 1), "too-deep"),
    "merge of a large map over and over": (
        f"a: &a {{{big_map(20_000)}}}\nb: {{<<: [{', '.join(['*a'] * 20_000)}]}}",
        "too-many-values",
    ),
    "many merges of a large map": (
        f"a: &a {{{big_map(5_000)}}}\n" + "\n".join(f"b{n}: {{<<: *a}}" for n in range(5_000)),
        "too-many-values",
    ),
    "long alias chain": (
        "a0: &a0 x\n" + "\n".join(f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, 3000)),
        "too-deep",
    ),
    "open brackets": ("[" * 100_000, None),
    "closed brackets": ("a: " + "[" * 500 + "]" * 500, "too-deep"),
    "nested blocks": ("\n".join(" " * n + "a:" for n in range(1500)), "too-deep"),
    "nested list items": ("- " * 100_000, "too-deep"),
    "open maps": ("{a: " * 50_000, None),
    "question marks": ("? " * 50_000, "too-deep"),
    "many values": ("a: [" + "x, " * 251_000 + "]", "too-many-values"),
    "many keys": ("{" + ",".join(f"k{n}" for n in range(126_000)) + "}", "too-many-values"),
    "many documents": ("---\n" * (MAX_DOCUMENTS + 1), "too-many-values"),
    "many broken documents": ("---\n[\n" * 50_000, "yaml-syntax"),
    "many undefined aliases": ("---\na: *x\n" * 20_000, "unknown-alias"),
    "large file": ("# x\n" * (MAX_FILE_BYTES // 4 + 1), "file-too-large"),
    "long line": ("a: " + "x " * 1_000_000, None),
    "long quoted text": ("a: '" + "x\n" * 1_000_000 + "'", None),
    "long key": ("k" * 1_000_000 + ": 1", "yaml-syntax"),
    "long number": ("a: " + "1" * 1_000_000, "invalid-number"),
    "long base-60 number": ("a: " + "1:" * 500_000 + "1", "invalid-number"),
    "long tag": ("a: !" + "x" * 1_000_000 + " y", "unknown-tag"),
    "duplicate keys": ("\n".join(f"k{n}: 1" for n in range(30_000)) * 2, None),
    "the same key again": ("a: 1\n" * 20_000, "duplicate-key"),
    "keys that are numbers": ("envs: {" + ", ".join(map(str, range(30_000))) + "}", "key-not-text"),
    "many dates": ("envs: [" + "2024-01-01, " * 30_000 + "]", "date-value"),
    "many warnings": ("envs: [" + "12:30, " * 30_000 + "]", "yaml-1-2-differs"),
    "many secrets": (
        "secrets: {" + ", ".join(f"S{n}: v{n}" for n in range(20_000)) + "}",
        None,
    ),
    "many unknown fields": ("\n".join(f"field{n}: 1" for n in range(20_000)), "unknown-field"),
    "many unknown fields below": (f"resources: {{{big_map(20_000)}}}", "unknown-field"),
    "many wrong types": (
        "envs: {" + ", ".join(f"E{n}: [1]" for n in range(15_000)) + "}",
        "wrong-type",
    ),
    "text against patterns": (
        "\n".join(
            f"{field}: {'a-' * 200_000}!"
            for field in ("name", "num_nodes", "workdir", "event_callback")
        )
        + "\nresources:\n"
        + "\n".join(
            f"  {field}: '{text}'"
            for field, text in {
                "cpus": "0" * 300_000 + "!",
                "memory": "1" * 300_000 + "!",
                "accelerators": "A " * 200_000 + "!",
                "infra": "aws/" + "a" * 300_000 + "/!/!",
                "disk_size": "9" * 300_000 + "!",
            }.items()
        ),
        "invalid-value",
    ),
    "control characters": ("a: " + "\x01" * 1_000_000, "control-character"),
    "surrogates": ("a: " + "\udc00" * 100_000, "control-character"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_input_is_refused_in_bounded_time(name: str) -> None:
    text, code = HOSTILE[name]
    found = Diagnostics()
    start = time.process_time()
    unit = detect(read_text(text, "t.yaml", found), found)
    for document in unit.documents:
        check(document, schema_for(document.kind), found)
    shown = render(found, "text", width=80)
    assert time.process_time() - start < SECONDS
    if code is not None:
        assert code in {item.code for item in found}
    assert len(found) <= 5 * MAX_FINDINGS
    assert len(shown) < 1_000_000
    assert all(len(line) < 400 for line in shown.splitlines())


def test_hostile_input_is_refused_in_bounded_memory() -> None:
    # getrusage's maximum would count this process too, as the child starts as its copy.
    program = (
        "import re, sys\n"
        f"sys.path[:0] = {sys.path!r}\n"
        "import test_source_hostile as cases\n"
        "from compiler.diagnostics import Diagnostics\n"
        "from compiler.source import read_text\n"
        "for name in ('alias bomb', 'merge bomb', 'many values', 'many documents'):\n"
        "    read_text(cases.HOSTILE[name][0], 't.yaml', Diagnostics())\n"
        "print(re.search(r'VmHWM:\\s*(\\d+) kB', open('/proc/self/status').read())[1])\n"
    )
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert int(answer.stdout) < 400 * 1024, "KiB"


def test_merges_that_multiply_but_stay_small_are_read() -> None:
    found = Diagnostics()
    (document,) = read_text(merges(60, 9), "t.yaml", found)
    assert not found.has_errors
    assert document.data["a59"] == {"x": 1, "y": 2, **{f"k{n}": 1 for n in range(1, 60)}}


def test_no_number_of_warnings_hides_an_error() -> None:
    found = Diagnostics()
    read_text("envs: [" + "12:30, " * 500 + "]\nname: .nan\n", "t.yaml", found)
    codes = [item.code for item in found]
    assert codes.count("yaml-1-2-differs") == MAX_FINDINGS
    assert codes.count("more-findings") == 1
    assert found.has_errors
    assert "invalid-number" in codes


def test_what_people_write_is_far_below_the_bounds() -> None:
    deep = "a: " + "[" * 90 + "]" * 90
    found = Diagnostics()
    assert read_text(deep, "t.yaml", found)
    assert read_text("\n".join(f"k{n}: [a, b]" for n in range(20_000)), "t.yaml", found)
    assert len(read_text("---\na: 1\n" * 5_000, "t.yaml", found)) == 5_000
    assert not list(found)
