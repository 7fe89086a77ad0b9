"""Plan and apply of 1,000 objects on a real API server, beside kubectl on the same files.

`triplane plan --out` and `apply` of that plan against `kubectl diff --server-side` and
`kubectl apply --server-side`: the same manifests on the same server in the same run, each in
namespaces of its own, in turn. The work waits in a queue that does not exist, so that no pod is
made and the server answers for the requests alone. Whole processes, seconds of the clock.

Needs the site of the tests (tests/kubernetes_site) and kubectl.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import yaml

from bench.timing import ratio, row
from tests.kubernetes_site import KubernetesSite, missing

ROOT = Path(__file__).parent.parent
WORKS, OBJECTS_A_WORK, ROUNDS = 334, 3, 2
# Times of kubectl's: both send the same dry runs and applies, ours keeps records besides.
LIMITS = {"plan": 1.2, "apply": 2.0, "plan again": 1.2}
_PROGRAM = (sys.executable, "-c", "from compiler.cli.main import entry; entry()")
_TASK = """\
name: {name}
resources: {{cpus: 4, memory: 16, accelerators: "H100:8"}}
envs: {{SEED: "{number}", DATA: s3://corpus/{number}}}
setup: pip install -e .
run: |
  python train.py --seed $SEED --data "$DATA" --rank $SKYPILOT_NODE_RANK
"""


def main() -> int:
    """1 if a ratio is over its limit or the programs do not agree, 0 too where it cannot run."""
    reasons = missing()
    if shutil.which("kubectl") is None:
        reasons.append("kubectl is not installed (Debian: kubernetes-client)")
    if reasons:
        print(f"left out: {'; '.join(reasons)}")
        return 0
    folder = os.environ.get("TRIPLANE_KUBERNETES_SITE")
    site = KubernetesSite.load(folder) if folder else KubernetesSite.temporary()
    try:
        if not folder:
            site.up()
        return _measured(site)
    finally:
        if not folder:
            site.down()


def _measured(site: KubernetesSite) -> int:
    ours: dict[str, list[float]] = {name: [] for name in LIMITS}
    theirs: dict[str, list[float]] = {name: [] for name in LIMITS}
    for turn in range(ROUNDS + 1):
        with tempfile.TemporaryDirectory() as place:
            found = _one_round(site, Path(place), f"bench-{os.getpid()}-{turn}")
        seconds = ", ".join(f"{name} {a:.1f} / {b:.1f}" for name, (a, b) in found.items())
        print(
            f"{f'round {turn}' if turn else 'warming up'}, ours / kubectl: {seconds} s", flush=True
        )
        for name, (a, b) in found.items():
            if turn:  # the first warms the server's caches and the disk's
                ours[name].append(a)
                theirs[name].append(b)
    over = []
    print(f"{WORKS * OBJECTS_A_WORK} objects of {WORKS} works, {ROUNDS} rounds")
    for name, limit in LIMITS.items():
        print(row(f"triplane {name}", ours[name], unit="s"))
        print(row(f"kubectl {name}", theirs[name], unit="s"))
        if ratio(f"  {name}: ours / kubectl", ours[name], theirs[name]) > limit:
            over.append(name)
    if over:
        print(f"over the limit: {', '.join(over)} (limits {LIMITS})")
    return 1 if over else 0


def _one_round(site: KubernetesSite, place: Path, name: str) -> dict[str, tuple[float, float]]:
    """Seconds of (triplane, kubectl) for a plan of nothing there, the apply, a plan again."""
    environment = {**os.environ, "KUBECONFIG": str(site.kubeconfig), "PYTHONPATH": str(ROOT)}
    _write(place, name)
    site.namespace(name)
    site.namespace(f"{name}-k")
    manifests = place / "manifests"
    _ours(place, environment, "render", "--out", str(place / "out"))
    manifests.mkdir()
    for path in sorted((place / "out").rglob("*.yaml")):
        text = path.read_text().replace(f"namespace: {name}\n", f"namespace: {name}-k\n")
        (manifests / f"{path.parent.name}-{path.name}").write_text(text)
    count = len(list(manifests.iterdir()))
    assert count == WORKS * OBJECTS_A_WORK, count
    diff = ("diff", "--server-side", "-f", str(manifests))
    apply = ("apply", "--server-side", "-f", str(manifests))
    found = {
        "plan": (
            _ours(place, environment, "plan", "--out", "plan.json"),
            _kubectl(environment, *diff, codes=(0, 1)),
        ),
        "apply": (
            _ours(place, environment, "apply", "plan.json"),
            _kubectl(environment, *apply),
        ),
        "plan again": (
            _ours(place, environment, "plan", "--detailed-exitcode"),
            _kubectl(environment, *diff, codes=(0, 1)),
        ),
    }
    for namespace in (name, f"{name}-k"):
        site.api.delete("v1", "Namespace", namespace)
    return found


def _write(place: Path, name: str) -> None:
    (place / "tasks").mkdir()
    for number in range(WORKS):
        text = _TASK.format(name=f"work-{number:03}", number=number)
        (place / "tasks" / f"{number:03}.yaml").write_text(text)
    target = {
        "kind": "kubernetes",
        "context": "site",
        "namespace": name,
        "version": "1.36",
        "labels": "gfd",
        "queue": {"kind": "kueue", "name": "none-such"},
        "deployer": "server-side-apply",
    }
    stack = {
        "set": {"name": "bench", "inputs": ["tasks/"]},
        "root": ".",
        "targets": {"prod": target},
    }
    (place / "stack.yaml").write_text(yaml.safe_dump(stack))


def _ours(place: Path, environment: dict[str, str], command: str, *words: str) -> float:
    return _run([*_PROGRAM, command, "--stack", "stack.yaml", *words], place, environment, (0,))


def _kubectl(environment: dict[str, str], *words: str, codes: Sequence[int] = (0,)) -> float:
    return _run(["kubectl", *words], ROOT, environment, codes)


def _run(
    words: Sequence[str], folder: Path, environment: dict[str, str], codes: Sequence[int]
) -> float:
    start = time.perf_counter()
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True)
    seconds = time.perf_counter() - start
    if done.returncode not in codes:
        raise RuntimeError(f"{' '.join(words[-6:])}: {done.stderr[-2000:] or done.stdout[-2000:]}")
    return seconds
