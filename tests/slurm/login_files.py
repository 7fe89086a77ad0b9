"""What a test puts into a login's own files, taken back when it ends: the site outlives a test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

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
