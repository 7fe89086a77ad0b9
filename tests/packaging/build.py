"""Building the distributions as an installer does, and running the command from where they lie."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
# The build backend and the dependencies come from the test environment: no network.
_PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
_OFFLINE = ["--no-index", "--no-deps", "--no-build-isolation"]


def run(argv: list[str | Path], cwd: Path = TOP, code: int = 0, **settings) -> str:
    """Standard output of a command that must exit with *code*."""
    done = subprocess.run(
        argv,
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        **settings,
    )
    assert done.returncode == code, f"{argv}\n{done.stdout}{done.stderr}"
    return done.stdout


def build_sdist(out: Path) -> Path:
    """The source distribution of the checkout."""
    run([sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", out])
    (archive,) = out.glob("*.tar.gz")
    return archive


def build_wheel(source: Path, out: Path) -> Path:
    """The wheel of a checkout or of a source distribution."""
    run([*_PIP, "wheel", "--quiet", *_OFFLINE, "--wheel-dir", out, source])
    (wheel,) = out.glob("*.whl")
    return wheel


@dataclass(frozen=True)
class Installation:
    """A wheel laid out in a folder of its own; the checkout cannot be imported from it.

    `-S` leaves `.pth` files unread, so the editable installation that the tests themselves run
    on does not exist for it; the dependencies are put on the path by name.
    """

    folder: Path
    home: Path

    @classmethod
    def of(cls, wheel: Path, folder: Path, home: Path) -> Installation:
        run([*_PIP, "install", "--quiet", *_OFFLINE, "--target", folder, wheel])
        return cls(folder, home)

    def python(self, *words: str | Path, code: int = 0) -> str:
        """Runs Python in `home`, with nothing of this process's environment."""
        return run([sys.executable, "-P", "-S", *words], self.home, code, env=self._environ())

    def triplane(self, *words: str, code: int = 0) -> str:
        """Runs the installed console script in `home`."""
        return self.python(self.folder / "bin" / "triplane", *words, code=code)

    def _environ(self) -> dict[str, str]:
        installed = [
            entry for entry in sys.path if entry.endswith(("site-packages", "dist-packages"))
        ]
        return {
            "HOME": str(self.home),
            "PATH": os.defpath,
            "PYTHONPATH": os.pathsep.join([str(self.folder), *installed]),
        }
