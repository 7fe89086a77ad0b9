"""SkyPilot's own environment: where it lies, how it is made.

    python -m tests.dialect install      makes it (from PyPI, once; 400 MB)

It is apart from the environment of the other tests, so that SkyPilot's dependencies never meet
ours, and outlives the checkout.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

VERSION = "0.14.1"


def folder() -> Path:
    """Where the environment is: `TRIPLANE_SKYPILOT`, else below the user's cache."""
    given = os.environ.get("TRIPLANE_SKYPILOT")
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(given) if given else Path(cache) / "triplane" / f"skypilot-{VERSION}"


def python() -> Path:
    """Its interpreter, whether or not it has been made."""
    return folder() / "bin" / "python"


def is_made() -> bool:
    return python().exists()


def install() -> None:
    """Make the environment if it is not there; raises CalledProcessError where that fails."""
    if is_made():
        return
    subprocess.run([sys.executable, "-m", "venv", folder()], check=True)
    pip = [python(), "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    subprocess.run([*pip, f"skypilot=={VERSION}"], check=True)
