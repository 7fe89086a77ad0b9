"""`python -m tests.dialect install`: SkyPilot's environment. `record`: its answers."""

from __future__ import annotations

import sys

from tests.dialect import environment


def main(words: list[str]) -> int:
    if words == ["install"]:
        environment.install()
        print(environment.folder())
        return 0
    if words == ["record"]:
        from tests.dialect.recording import record

        environment.install()
        record()
        return 0
    print("usage: python -m tests.dialect install | record", file=sys.stderr)
    return 64


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
