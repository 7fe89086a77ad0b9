"""Migration measured on scripts found in the wild, with the real sbatch as the judge.

    TRIPLANE_JOBSPECS=/path/to/jobspec-database python -m bench migration

The scripts are those of the public repository converged-computing/jobspec-database: a checkout
of it, or its git directory. Files whose git blob hash begins with an even hex digit are
taken (`TRIPLANE_JOBSPECS_DIGITS` names others). Aims: option names and values agree on at least
99.9 % of the files that sbatch accepts, refusals on at least 99 %, and 200 scripts a second on
two cores. Without a checkout only the speed is measured, on the tests' own cases.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from compiler.migration.folders import discover, place, run
from compiler.migration.reading.header import read
from compiler.migration.reading.options import option_table
from compiler.migration.reporting.summary import Summary
from compiler.migration.settings import Settings
from tests.migration.real_sbatch import Judge, Verdict, differences, why_not

CASES = Path(__file__).resolve().parent.parent / "tests" / "migration" / "cases"
EVEN = "02468ace"
ACCEPTED_AIM, REFUSED_AIM, SPEED_AIM = 0.999, 0.99, 200
WORKERS = 2
_LARGEST = 4 << 20
_SHOWN = 10
_REPEATED = 20


def scripts(repository: Path, digits: str) -> Iterator[tuple[str, bytes]]:
    """(blob hash, content) of every file with a directive whose hash begins with a digit."""
    listed = _git(repository, "ls-tree", "-r", "-l", "HEAD", "data").decode("utf-8", "replace")
    rows = (line.split("\t")[0].split() for line in listed.splitlines())
    hashes = sorted(
        {
            row[2]
            for row in rows
            if row[2][0] in digits and row[3].isdigit() and int(row[3]) < _LARGEST
        }
    )
    with subprocess.Popen(
        ["git", "-C", str(repository), "cat-file", "--batch"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        for name in hashes:
            process.stdin.write(f"{name}\n".encode())
            process.stdin.flush()
            size = int(process.stdout.readline().split()[2])
            content = process.stdout.read(size)
            process.stdout.read(1)
            if b"#SBATCH" in content:
                yield name, content
        process.stdin.close()


def _git(repository: Path, *words: str) -> bytes:
    done = subprocess.run(["git", "-C", str(repository), *words], capture_output=True, check=True)
    return done.stdout


def agreement(folder: Path, judge: Judge) -> bool:
    """Compare the reader with sbatch on every file; prints and says whether the aims are met."""
    table = option_table(judge.version(), frozenset())
    counts: Counter[str] = Counter()
    shown = 0
    paths = sorted(folder.iterdir())

    def verdict(path: Path) -> Verdict:
        return judge.judge_file(path)

    with ThreadPoolExecutor(WORKERS) as pool:
        for path, found in zip(paths, pool.map(verdict, paths), strict=True):
            text = path.read_bytes().decode("utf-8", "surrogateescape")
            wrong = differences(read(text, table), found, judge)
            kind = "accepted" if found.components else "refused"
            counts[kind] += 1
            counts[f"{kind} alike"] += not wrong
            if wrong and shown < _SHOWN:
                shown += 1
                print(f"  {path.name}: {'; '.join(wrong)}")
    accepted = counts["accepted alike"] / max(counts["accepted"], 1)
    refused = counts["refused alike"] / max(counts["refused"], 1)
    print(
        f"accepted by sbatch {counts['accepted']:6}: alike {accepted:8.3%} (aim {ACCEPTED_AIM:.1%})"
    )
    print(f"refused by sbatch  {counts['refused']:6}: alike {refused:8.3%} (aim {REFUSED_AIM:.1%})")
    return accepted >= ACCEPTED_AIM and refused >= REFUSED_AIM


def speed(folder: Path) -> bool:
    """Migrate the folder with two processes, as `triplane migrate` does; prints."""
    with tempfile.TemporaryDirectory() as out:
        jobs = place(list(discover([str(folder)])), [str(folder)], out)
        summary = Summary()
        start, spent = time.perf_counter(), os.times()
        for migration in run(jobs, Settings(), WORKERS):
            summary.add(migration)
        seconds, after = time.perf_counter() - start, os.times()
    used = sum(after[:4]) - sum(spent[:4])
    print(summary.text(), end="")
    rate = len(jobs) / seconds
    # On a machine that others use as well, the processor's time says more than the clock.
    by_time = WORKERS * len(jobs) / used
    print(f"{rate:.0f} scripts a second; {by_time:.0f} by processor time (aim {SPEED_AIM})")
    return max(rate, by_time) >= SPEED_AIM


def main() -> int:
    checkout = os.environ.get("TRIPLANE_JOBSPECS")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "scripts"
        folder.mkdir()
        if checkout is None:
            print("TRIPLANE_JOBSPECS names no checkout: only the speed, on the tests' own cases")
            for number in range(_REPEATED):
                for case in sorted(CASES.iterdir()):
                    content = (case / "job.sh").read_bytes()
                    (folder / f"{case.name}-{number}.sh").write_bytes(content)
            return 0 if speed(folder) else 1
        digits = os.environ.get("TRIPLANE_JOBSPECS_DIGITS", EVEN)
        for name, content in scripts(Path(checkout), digits):
            (folder / name).write_bytes(content)
        fine = speed(folder)
        reason = why_not()
        if reason is not None:
            print(f"NOT COMPARED WITH SBATCH: {reason}")
            return 1
        judged = Path(scratch) / "judge"
        judged.mkdir()
        return 0 if agreement(folder, Judge(judged)) and fine else 1


if __name__ == "__main__":
    sys.exit(main())
