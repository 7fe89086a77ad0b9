"""lab-kept: a file system of EFS."""

import functools

from common import filesystems, settings

NAME = "lab-kept"
TAGS = settings.TAGS | {
    "triplane:work": "kept",
    "triplane:run": "1",
    "Name": "lab-kept",
}


@functools.cache
def deploy() -> filesystems.FileSystem:
    """Create it, for itself and for all runs that mount it."""
    return filesystems.shared(
        NAME,
        TAGS,
    )
