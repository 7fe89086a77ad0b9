"""lab-checkpoints: a file system of EFS."""

import functools

from common import filesystems, settings

NAME = "lab-checkpoints"
TAGS = settings.TAGS | {
    "triplane:work": "checkpoints",
    "triplane:run": "1",
    "team": "nlp",
    "Name": "lab-checkpoints",
}


@functools.cache
def deploy() -> filesystems.FileSystem:
    """Create it, for itself and for all runs that mount it."""
    return filesystems.shared(
        NAME,
        TAGS,
    )
