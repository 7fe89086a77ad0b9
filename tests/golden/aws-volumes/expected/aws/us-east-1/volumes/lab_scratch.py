"""lab-scratch: a disk of EBS, 1024 GiB."""

import functools

from common import settings, volumes

NAME = "lab-scratch"
TAGS = settings.TAGS | {
    "triplane:work": "scratch",
    "triplane:run": "1",
    "Name": "lab-scratch",
}


@functools.cache
def deploy() -> volumes.Volume:
    """Create it, for itself and for all runs that mount it."""
    return volumes.disk(
        NAME,
        TAGS,
        zone="us-east-1a",
        size=1024,
        volume_type="gp3",
        iops=8000,
        throughput=500,
    )
