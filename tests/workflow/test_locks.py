"""Two applies of one set at once: the second waits with a message, or fails and says who."""

from __future__ import annotations

import threading
import time

import pytest

HOLDER = "bob@ci pid 7 plan 0123456789abcdef\n"


@pytest.fixture
def locked(project):
    project.stack("alpha", "eks")
    project.task("train")
    project.write("out/.triplane/demo/alpha.lock", HOLDER)
    return project


def test_without_a_wait_the_second_fails_and_names_the_first(locked):
    done = locked.apply()
    assert done.code == 1
    assert HOLDER.strip() in done.err
    assert "triplane unlock" in done.err
    assert locked.files() == {}


def test_a_wait_says_whom_it_waits_for_and_goes_on(locked):
    lock = locked.folder / "out/.triplane/demo/alpha.lock"

    def release():
        time.sleep(1.5)
        lock.unlink()

    thread = threading.Thread(target=release)
    thread.start()
    done = locked.run("apply", "--stack", "stack.yaml", "--auto-approve", "--lock-timeout", "60")
    thread.join()
    assert done.code == 0, done.text
    assert done.err.count("waiting for the lock: ") == 1
    assert HOLDER.strip() in done.err
    assert locked.files()
    assert not lock.exists()


def test_a_wait_ends(locked):
    start = time.monotonic()
    done = locked.apply("--lock-timeout", "1.2")
    assert done.code == 1
    assert 1.0 < time.monotonic() - start < 30
    assert HOLDER.strip() in done.err


def test_a_lock_is_given_back_by_who_took_it_alone(locked):
    assert locked.apply().code == 1
    lock = locked.folder / "out/.triplane/demo/alpha.lock"
    assert lock.read_text() == HOLDER
    answer = locked.run("unlock", "--stack", "stack.yaml")
    assert f"alpha: was held by {HOLDER.strip()}" in answer.out
    assert "eks: was not locked" in answer.out
    assert locked.applied().code == 0
    assert list((locked.folder / "out/.triplane/demo").glob("*.lock")) == []


def test_two_processes_at_once_write_one_run(project):
    project.stack("alpha")
    for at in range(6):
        project.task(f"work-{at}")
    results = []

    def apply():
        results.append(
            project.process(
                "apply",
                "--stack",
                "stack.yaml",
                "--auto-approve",
                "--lock-timeout",
                "60",
                timeout=120,
            )
        )

    threads = [threading.Thread(target=apply) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {done.returncode for done in results} <= {0, 4}, [done.stderr for done in results]
    assert 0 in {done.returncode for done in results}
    assert sorted(project.records()) == [f"demo/alpha/work-{at}.1" for at in range(6)]
