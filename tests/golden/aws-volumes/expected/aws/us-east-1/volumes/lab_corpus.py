"""lab-corpus: FSx for Lustre, 4800 GiB."""

import functools

from common import filesystems, settings

NAME = "lab-corpus"
TAGS = settings.TAGS | {
    "triplane:work": "corpus",
    "triplane:run": "1",
    "Name": "lab-corpus",
}


@functools.cache
def deploy() -> filesystems.FileSystem:
    """Create it, for itself and for all runs that mount it."""
    return filesystems.lustre(
        NAME,
        TAGS,
        zone="us-east-1b",
        size=4800,
        throughput=500,
    )
