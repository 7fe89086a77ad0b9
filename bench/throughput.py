"""Many different tasks rendered for each target, against the parts that cannot be avoided.

The unavoidable parts, timed on the same documents in the same run: libyaml's parse to data,
jsonschema with our task schema, and Jinja rendering of the templates with the same input.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import jsonschema
import yaml

from bench.timing import calls, ratio, row

COUNT = 1_000
KINDS = ("kubernetes", "slurm", "aws")


def document(number: int) -> str:
    """A task unlike every other: names, sizes, variables and texts differ."""
    accelerators = ("H100:8", "A100:8", "L4:1", "H100:1", "A10G:1")[number % 5]
    variables = "\n".join(f"  VALUE_{i}: 'text {number} {i}'" for i in range(number % 7))
    return f"""\
name: task-{number}
num_nodes: {1 + number % 4}
resources:
  accelerators: {accelerators}
  cpus: 4+
  memory: {16 + number % 32}+
  labels: {{team: t{number % 9}, number: "{number}"}}
envs:
  SEED: '{number}'
{variables}
setup: |
  echo "preparing {number}"
  pip install --quiet numpy==1.26.{number % 10}
run: |
  echo "rank $SKYPILOT_NODE_RANK of $SKYPILOT_NUM_NODES, task {number}"
  python train.py --seed {number} --steps {1000 + number}
"""


def stack_text(kind: str) -> str:
    extra = {
        "kubernetes": 'version: "1.34", labels: gfd',
        "slurm": 'version: "23.11", workdir: /shared/t',
        "aws": "region: us-east-1, files: {bucket: s3://b}",
    }[kind]
    return f"set: {{name: bench}}\ntargets:\n  here: {{kind: {kind}, {extra}}}\n"


def render_all(folder: Path, stack: Path) -> int:
    """Render every task of the folder; returns how many artifacts came out."""
    from compiler.diagnostics import Diagnostics
    from compiler.workflow import load_stack, render

    diagnostics = Diagnostics()
    loaded = load_stack(str(stack), diagnostics)
    diagnostics.raise_if_errors()
    return len(render([str(folder)], loaded).artifacts)


def measure_in_process(kind: str, count: int) -> dict[str, float]:
    """Seconds and peak memory of a fresh process that renders `count` tasks."""
    code = (
        "import json,sys,time; from pathlib import Path; from bench import throughput as t;"
        "d=Path(sys.argv[1]); s=time.perf_counter(); n=t.render_all(d/'tasks', d/'stack.yaml');"
        "e=time.perf_counter()-s; import resource;"
        "print(json.dumps({'seconds': e, 'artifacts': n,"
        " 'mb': resource.getrusage(resource.RUSAGE_SELF).ru_maxrss/1024}))"
    )
    with tempfile.TemporaryDirectory() as folder:
        write_inputs(Path(folder), kind, count)
        done = subprocess.run(
            [sys.executable, "-c", code, folder], check=True, capture_output=True, text=True
        )
    return json.loads(done.stdout)


def write_inputs(folder: Path, kind: str, count: int) -> None:
    (folder / "tasks").mkdir()
    (folder / "stack.yaml").write_text(stack_text(kind))
    for number in range(count):
        (folder / "tasks" / f"{number:05}.yaml").write_text(document(number))


class JinjaTimer:
    """Adds up the seconds that Jinja spends in rendering, from outside of it."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __enter__(self) -> JinjaTimer:
        import jinja2

        self._render = jinja2.Template.render
        timer = self

        def timed(template, *arguments, **keywords):
            start = time.perf_counter()
            try:
                return timer._render(template, *arguments, **keywords)
            finally:
                timer.seconds += time.perf_counter() - start

        jinja2.Template.render = timed
        return self

    def __exit__(self, *_: object) -> None:
        import jinja2

        jinja2.Template.render = self._render


def main() -> None:
    from compiler.source.schemas import validator as schema_validator

    texts = [document(number) for number in range(COUNT)]
    validator = schema_validator("task")
    parsed = [yaml.load(text, Loader=yaml.CSafeLoader) for text in texts]

    def parse() -> None:
        for text in texts:
            yaml.load(text, Loader=yaml.CSafeLoader)

    def check() -> None:
        for body in parsed:
            for error in validator.iter_errors(body):
                raise jsonschema.ValidationError(error.message)

    for kind in KINDS:
        with tempfile.TemporaryDirectory() as folder:
            here = Path(folder)
            write_inputs(here, kind, COUNT)
            jinja = JinjaTimer()
            shares: list[float] = []

            def ours(here=here, jinja=jinja, shares=shares) -> None:
                jinja.seconds = 0.0
                with jinja:
                    render_all(here / "tasks", here / "stack.yaml")
                shares.append(jinja.seconds)

            times = calls({"parse": parse, "check": check, "ours": ours}, rounds=5)
        parts = [
            a + b + c for a, b, c in zip(times["parse"], times["check"], shares[1:], strict=True)
        ]
        print(row(f"{kind}: C YAML parse, a task", times["parse"], COUNT, "us"))
        print(row(f"{kind}: jsonschema, a task", times["check"], COUNT, "us"))
        print(row(f"{kind}: Jinja, a task", shares[1:], COUNT, "us"))
        print(row(f"{kind}: triplane render, a task", times["ours"], COUNT, "us"))
        print(ratio(f"{kind}: render / sum of the parts", times["ours"], parts))
        points = {count: measure_in_process(kind, count) for count in (1_000, 5_000, 10_000)}
        for count, point in points.items():
            print(
                f"{kind}: {count:6} tasks {point['seconds']:8.2f} s, "
                f"{point['seconds'] / count * 1e6:7.0f} us a task, peak {point['mb']:.0f} MB"
            )
        slope = points[10_000]["seconds"] / points[1_000]["seconds"] / 10
        print(f"{kind}: 10,000 tasks cost {slope:.2f} times ten times 1,000 tasks")
    print(
        f"this process's peak: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB"
    )


if __name__ == "__main__":
    main()
