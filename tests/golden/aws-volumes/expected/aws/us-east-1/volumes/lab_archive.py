"""lab-archive: a disk of EBS."""

import functools

from common import volumes

NAME = "lab-archive"


@functools.cache
def deploy() -> volumes.Volume:
    """Find it, for itself and for all runs that mount it."""
    return volumes.existing_disk(
        NAME,
        zone="us-east-1a",
        by="tag:Name",
        value="archive",
    )
