"""What a test puts into a login's own files, taken back when it ends: the site outlives a test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.slurm_site import SlurmSite


@contextmanager
def bashrc(site: SlurmSite, user: str, text: str) -> Iterator[None]:
    """`text` as the whole of the user's ~/.bashrc, for the time of the block."""
    path = site.home(user) / ".bashrc"
    before = path.read_text() if path.exists() else None
    site.write(user, ".bashrc", text)
    try:
        yield
    finally:
        if before is None:
            path.unlink()
        else:
            site.write(user, ".bashrc", before)


def cut_off(site: SlurmSite, user: str, folder: str, number: int, when: str) -> Path:
    """A stand-in for sbatch in that folder of the user's home: whatever snippet makes its call
    with this number from now on is killed, `before` the real sbatch is called or `after`."""
    text = Path(__file__).with_name("cut_off.sh").read_text()
    tool = site.write(user, f"{folder}/sbatch", text)
    tool.chmod(0o755)
    site.write(user, f"{folder}/count", "")
    (tool.parent / "count").chmod(0o666)
    site.write(user, f"{folder}/at", f"{number} {when}\n")
    return tool.parent
