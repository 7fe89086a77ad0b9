"""lab-team-home: a file system of EFS."""

import functools

from common import filesystems, volumes

NAME = "lab-team-home"


@functools.cache
def deploy() -> volumes.Volume:
    """Find it, for itself and for all runs that mount it."""
    return filesystems.existing_shared(
        NAME,
        tag="team-home",
    )
