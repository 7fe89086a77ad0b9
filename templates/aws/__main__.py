"""All workloads of this stack: every module of the folder `workloads` describes one run, every
one of `volumes` a disk or file system that runs mount.

Modules come and go with the runs, so they are found rather than listed here.
"""

import importlib
import pkgutil

import volumes
import workloads
from common import settings

for package in (volumes, workloads):
    for name in sorted(found.name for found in pkgutil.iter_modules(package.__path__)):
        module = importlib.import_module(f"{package.__name__}.{name}")
        if module.NAME not in settings.finished_runs():
            module.deploy()
