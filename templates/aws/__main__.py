"""All workloads of this stack: every module of the folder `workloads` describes one run.

Modules come and go with the runs, so they are found rather than listed here.
"""

import importlib
import pkgutil

import workloads
from common import settings

for module in sorted(found.name for found in pkgutil.iter_modules(workloads.__path__)):
    workload = importlib.import_module(f"workloads.{module}")
    if workload.NAME not in settings.finished_runs():
        workload.deploy()
