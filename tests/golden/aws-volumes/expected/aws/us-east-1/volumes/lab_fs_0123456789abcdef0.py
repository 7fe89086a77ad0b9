"""lab-fs-0123456789abcdef0: FSx for Lustre."""

import functools

from common import filesystems, volumes

NAME = "lab-fs-0123456789abcdef0"


@functools.cache
def deploy() -> volumes.Volume:
    """Find it, for itself and for all runs that mount it."""
    return filesystems.existing_lustre(
        NAME,
        id="fs-0123456789abcdef0",
    )
