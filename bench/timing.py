"""Measuring side by side: in turn, so that a drifting machine hits both alike."""

from __future__ import annotations

import statistics
import subprocess
import time
from collections.abc import Callable, Sequence


def processes(commands: dict[str, Sequence[str]], rounds: int = 11) -> dict[str, list[float]]:
    """Wall seconds of whole processes, run in turn; the first round is not counted."""
    times: dict[str, list[float]] = {name: [] for name in commands}
    for turn in range(rounds + 1):
        for name, command in commands.items():
            start = time.perf_counter()
            subprocess.run(
                command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            if turn:
                times[name].append(time.perf_counter() - start)
    return times


def calls(
    functions: dict[str, Callable[[], object]],
    rounds: int = 5,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, list[float]]:
    """Seconds of function calls, run in turn; the first round is not counted."""
    times: dict[str, list[float]] = {name: [] for name in functions}
    for turn in range(rounds + 1):
        for name, function in functions.items():
            start = clock()
            function()
            if turn:
                times[name].append(clock() - start)
    return times


def row(name: str, seconds: Sequence[float], per: int = 1, unit: str = "ms") -> str:
    scale = {"ms": 1e3, "us": 1e6, "s": 1.0}[unit] / per
    low, middle, high = min(seconds), statistics.median(seconds), max(seconds)
    return f"{name:44} {middle * scale:10.2f} {unit}  ({low * scale:.2f} - {high * scale:.2f})"


def ratio(name: str, ours: Sequence[float], theirs: Sequence[float]) -> float:
    """Prints the ratio round by round, its median and spread; returns the median."""
    pairs = sorted(a / b for a, b in zip(ours, theirs, strict=True))
    middle = statistics.median(pairs)
    print(f"{name:44} {middle:10.2f} x   ({pairs[0]:.2f} - {pairs[-1]:.2f})", flush=True)
    return middle
