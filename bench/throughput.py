"""Many different tasks rendered for each target, against the parts that cannot be avoided.

The unavoidable parts, timed on the same documents in the same run: libyaml's parse to data,
jsonschema with our task schema, and Jinja's own rendering of our templates. Then the slope from
1,000 to 10,000 tasks and the peak memory, each point in a process of its own. Processor time,
so that other load on the machine counts as little as possible.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import jsonschema
import yaml

from bench.documents import KINDS, document, stack
from bench.timing import calls, ratio, row

COUNT = 1_000
POINTS = (1_000, 3_000, 10_000)
LIMIT, LIMIT_MB, LIMIT_SLOPE = 2.0, 400, 1.25
_ONE_PROCESS = """
import json, sys
from pathlib import Path
from bench import throughput
print(json.dumps(throughput.one_run(Path(sys.argv[1]))))
"""


def write_inputs(folder: Path, kind: str, count: int) -> None:
    """`count` tasks and their stack below `folder`."""
    (folder / "tasks").mkdir()
    (folder / "stack.yaml").write_text(stack(kind), encoding="utf-8")
    for number in range(count):
        path = folder / "tasks" / f"{number:05}.yaml"
        path.write_text(document(number, kind), encoding="utf-8")


def render_all(folder: Path) -> int:
    """Render every task of the folder; returns how many artifacts came out."""
    from compiler.diagnostics import Diagnostics
    from compiler.workflow import load_stack, render

    diagnostics = Diagnostics()
    loaded = load_stack(str(folder / "stack.yaml"), diagnostics)
    diagnostics.raise_if_errors()
    assert loaded is not None
    return len(render([str(folder / "tasks")], loaded).artifacts)


def one_run(folder: Path) -> dict[str, float]:
    """Seconds of processor time, artifacts, and this process's peak memory in MB."""
    start = time.process_time()
    artifacts = render_all(folder)
    return {"seconds": time.process_time() - start, "artifacts": artifacts, "mb": peak_mb()}


def peak_mb() -> float:
    """The peak of this program alone: `ru_maxrss` would begin with the parent's."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("the kernel does not say VmHWM")


class JinjaTimer:
    """Adds up the seconds that Jinja spends in rendering, from outside of it."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __enter__(self) -> JinjaTimer:
        import jinja2

        self._render = original = jinja2.Template.render

        def timed(template: jinja2.Template, *arguments: object, **keywords: object) -> str:
            start = time.process_time()
            try:
                return original(template, *arguments, **keywords)
            finally:
                self.seconds += time.process_time() - start

        jinja2.Template.render = timed  # type: ignore[method-assign]
        return self

    def __exit__(self, *_: object) -> None:
        import jinja2

        jinja2.Template.render = self._render  # type: ignore[method-assign]


def against_parts(kind: str) -> float:
    """Prints the parts and the whole; returns the median ratio."""
    from compiler.source.schemas import validator as schema_validator

    texts = [document(number, kind) for number in range(COUNT)]
    validator = schema_validator("task")
    parsed = [yaml.load(text, Loader=yaml.CSafeLoader) for text in texts]

    def parse() -> None:
        for text in texts:
            yaml.load(text, Loader=yaml.CSafeLoader)

    def check() -> None:
        for body in parsed:
            for error in validator.iter_errors(body):
                raise jsonschema.ValidationError(error.message)

    shares: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        write_inputs(Path(folder), kind, COUNT)

        def ours() -> None:
            with JinjaTimer() as jinja:
                render_all(Path(folder))
            shares.append(jinja.seconds)

        functions = {"parse": parse, "check": check, "ours": ours}
        times = calls(functions, rounds=5, clock=time.process_time)
    jinja = shares[1:]
    parts = [sum(three) for three in zip(times["parse"], times["check"], jinja, strict=True)]
    print(row(f"{kind}: C YAML parse, a task", times["parse"], COUNT, "us"))
    print(row(f"{kind}: jsonschema, a task", times["check"], COUNT, "us"))
    print(row(f"{kind}: Jinja, a task", jinja, COUNT, "us"))
    print(row(f"{kind}: triplane render, a task", times["ours"], COUNT, "us"))
    return ratio(f"{kind}: render / sum of the parts", times["ours"], parts)


def at_scale(kind: str) -> tuple[float, float]:
    """Prints a line a point; returns (how far from linear, highest peak in MB)."""
    seconds, peaks = {}, []
    for count in POINTS:
        with tempfile.TemporaryDirectory() as folder:
            write_inputs(Path(folder), kind, count)
            done = subprocess.run(
                [sys.executable, "-c", _ONE_PROCESS, folder],
                check=True,
                capture_output=True,
                text=True,
                env={**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)},
            )
        point = json.loads(done.stdout)
        seconds[count] = point["seconds"] / count
        peaks.append(point["mb"])
        print(
            f"{kind}: {count:6} tasks, {point['artifacts']:6} artifacts {point['seconds']:8.2f} s,"
            f" {seconds[count] * 1e6:6.0f} us a task, peak {point['mb']:.0f} MB",
            flush=True,
        )
    return seconds[POINTS[-1]] / seconds[POINTS[0]], max(peaks)


def main() -> int:
    bad = 0
    for kind in KINDS:
        whole = against_parts(kind)
        slope, peak = at_scale(kind)
        fine = whole <= LIMIT and slope <= LIMIT_SLOPE and peak <= LIMIT_MB
        bad += not fine
        print(
            f"{kind}: ratio {whole:.2f} (limit {LIMIT}), a task among {POINTS[-1]:,} costs "
            f"{slope:.2f} of one among {POINTS[0]:,} (limit {LIMIT_SLOPE}), peak {peak:.0f} MB "
            f"(limit {LIMIT_MB}): {'ok' if fine else 'TOO MUCH'}"
        )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
