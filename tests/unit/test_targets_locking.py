"""Locks of processes that are gone are nobody's."""

from __future__ import annotations

import os
import subprocess
import sys

from compiler.targets import locking
from compiler.targets.locking import is_left_over, said, signed

_HOLDER = "alice@laptop pid 7 plan abc\n"


def test_a_living_process_holds_its_lock() -> None:
    text = signed(_HOLDER)
    assert said(text) == "alice@laptop pid 7 plan abc"
    assert str(os.getpid()) in text.decode()
    assert not is_left_over(text)


def test_a_process_that_ended_left_its_lock() -> None:
    script = (
        "from compiler.targets.locking import signed; import sys;"
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


def test_a_living_process_that_the_host_hides_holds_its_lock(tmp_path, monkeypatch) -> None:
    text = signed(_HOLDER).decode()
    seen = tmp_path / "proc"
    (seen / "sys/kernel/random").mkdir(parents=True)
    boot = locking.Path("/proc/sys/kernel/random/boot_id").read_text()
    (seen / "sys/kernel/random/boot_id").write_text(boot)
    (seen / "self/ns").mkdir(parents=True)
    (seen / "self/ns/pid").symlink_to(locking.Path("/proc/self/ns/pid").readlink())
    me = seen / str(os.getpid())
    me.mkdir()
    (me / "stat").write_text(locking.Path("/proc/self/stat").read_text())
    monkeypatch.setattr(locking, "_PROC", seen)
    other = text.replace(f" {os.getpid()}\n", " 4242\n")

    def answer(error):
        def kill(pid, number):
            assert (pid, number) == (4242, 0)
            if error:
                raise error

        monkeypatch.setattr(os, "kill", kill)

    answer(PermissionError())
    assert not is_left_over(other.encode())
    answer(None)
    assert not is_left_over(other.encode())
    answer(ProcessLookupError())
    assert is_left_over(other.encode())
    # Somebody else's by now: it began at another time.
    (seen / "4242").mkdir()
    (seen / "4242/stat").write_text("4242 (sleep) " + " ".join("7" * 50))
    answer(PermissionError())
    assert is_left_over(other.encode())
