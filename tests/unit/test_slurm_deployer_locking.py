"""Locks of processes that are gone are nobody's."""

from __future__ import annotations

import os
import subprocess
import sys

from compiler.targets.slurm.deployer.locking import is_left_over, said, signed

_HOLDER = "alice@laptop pid 7 plan abc\n"


def test_a_living_process_holds_its_lock() -> None:
    text = signed(_HOLDER)
    assert said(text) == "alice@laptop pid 7 plan abc"
    assert str(os.getpid()) in text.decode()
    assert not is_left_over(text)


def test_a_process_that_ended_left_its_lock() -> None:
    script = (
        "from compiler.targets.slurm.deployer.locking import signed; import sys;"
        f"sys.stdout.buffer.write(signed({_HOLDER!r}))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert said(done.stdout) == "alice@laptop pid 7 plan abc"
    assert is_left_over(done.stdout)


def test_another_machine_s_lock_is_left_alone() -> None:
    text = signed(_HOLDER).decode()
    elsewhere = text.replace("process ", "process 0").replace(f" {os.getpid()}\n", " 1\n")
    assert not is_left_over(elsewhere.encode())
    assert not is_left_over(_HOLDER.encode())
    assert said(b"") == "somebody"
