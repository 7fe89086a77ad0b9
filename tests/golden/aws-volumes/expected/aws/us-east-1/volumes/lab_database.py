"""lab-database: a disk of EBS, 200 GiB."""

import functools

from common import settings, volumes

NAME = "lab-database"
TAGS = settings.TAGS | {
    "triplane:work": "database",
    "triplane:run": "1",
    "Name": "lab-database",
}


@functools.cache
def deploy() -> volumes.Volume:
    """Create it, for itself and for all runs that mount it."""
    return volumes.disk(
        NAME,
        TAGS,
        zone="us-east-1a",
        size=200,
        volume_type="io2",
        iops=20000,
    )
