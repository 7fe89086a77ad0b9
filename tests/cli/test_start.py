"""An interrupt before the program's own modules are there."""

import subprocess
import sys

from tests.command_line import TOP

INTERRUPTED_WHILE_LOADING = """
import os, signal, sys

class Interrupt:
    def find_spec(self, name, path, target=None):
        if name == "compiler.cli.main":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupt())
from compiler.cli.start import entry
entry()
"""


def test_an_interrupt_while_modules_are_loaded_shows_no_traceback() -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_WHILE_LOADING],
        capture_output=True,
        text=True,
        cwd=TOP,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


def test_the_command_starts_there() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from compiler.cli.start import entry; entry()", "--version"],
        capture_output=True,
        text=True,
        cwd=TOP,
        check=True,
    )
    assert done.stdout.startswith("triplane")
