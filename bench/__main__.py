"""`python -m bench [NAME...]`: every benchmark, or those named.

`python -m bench.corpus CHECKOUT` is apart, as it needs a checkout of SkyPilot's examples.
"""

from __future__ import annotations

import importlib
import sys

NAMES = ("reading", "startup", "throughput", "peers", "migration", "slurm", "cluster")


def main(names: list[str]) -> int:
    unknown = set(names) - set(NAMES)
    if unknown:
        print(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
        return 64
    failed = []
    for name in names or NAMES:
        print(f"\n== {name}", flush=True)
        if importlib.import_module(f"bench.{name}").main():
            failed.append(name)
    if failed:
        print(f"\nover their limits: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
