"""Volumes on AWS: changed in place, and made anew only where that was asked for."""

from __future__ import annotations

import dataclasses

from compiler.diagnostics import PlanOutdated
from compiler.planning.records import Record, Stage
from compiler.targets.aws.deployer import bringing, ending
from compiler.targets.aws.deployer.project import PROJECT_KEY, program_of
from compiler.targets.aws.deployer.site import Site
from compiler.targets.interface import Progress, Step


def execute(site: Site, step: Step, progress: Progress) -> Record:
    """Change a volume in place, or (where that was asked for) delete it and make it anew."""
    key = step.record.run_key
    stored = site.store.find(key)
    if stored is None:
        raise PlanOutdated([f"{site.target}: volume {step.record.work} is no longer recorded"])
    programs = site.store.programs()
    program = program_of(step.artifacts) if step.artifacts else programs.get(key)
    if program is None or PROJECT_KEY not in programs:
        raise PlanOutdated([f"{site.target}: volume {step.record.work} has no program; plan again"])
    if step.action == "replace":
        ending.tear_down(site, stored.record, progress)
        stored = site.store.write(
            stored, dataclasses.replace(step.record, stage=Stage.INTENT, identity=None)
        )
    site.store.keep_program(key, program)
    bringing.read_back(site, stored.record, program, progress)
    # The record has the new digests when the change is done: until then the plan is the same.
    wanted = dataclasses.replace(stored, record=step.record)
    return bringing.bring_up(site, wanted, program, progress)
