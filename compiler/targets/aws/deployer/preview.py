"""What the engine would do with artifacts: nothing is changed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from compiler.diagnostics.codes import aws_deploy as codes
from compiler.planning.changes import Preview
from compiler.rendering.artifact import Artifact
from compiler.targets.aws.deployer import observe
from compiler.targets.aws.deployer.project import program_of, project_files
from compiler.targets.aws.deployer.records import Program
from compiler.targets.aws.deployer.site import Site
from compiler.targets.interface import PreviewRefused
from compiler.targets.pulumi.changes import object_change, reasons
from compiler.targets.pulumi.engine import EngineRefused
from compiler.targets.pulumi.steps import kind_of

_CALL = re.compile(r"^    return (\w+\.\w+)\($", re.MULTILINE)
_ANEW = "what is there is deleted first: its resources are previewed by nobody"


def preview(
    site: Site, artifacts: Sequence[Artifact], others: Mapping[str, Program] | None = None
) -> Preview:
    """The engine's steps for the run of these artifacts, with what ended runs have left.

    `others` are the programs of volumes that the same plan makes, which the run may mount.
    Raise PreviewRefused with a diagnostic for each thing that a provider refuses.
    """
    names = [item.name.partition("/")[2] for item in artifacts if item.name.startswith("Program/")]
    programs = site.store.programs()
    live = observe.live_programs(observe.look(site), programs)
    live = {**(others or {}), **live}
    runs = live | dict.fromkeys(names, program_of(artifacts))
    project = project_files(site.stack, site.spec)
    if not names:  # the project's own files
        project = dict(program_of(artifacts).files)
    if not runs:
        return Preview()
    with site.engine(project, runs) as engine:
        try:
            steps = engine.preview().steps
        except EngineRefused as error:
            if _is_made_anew(programs, program_of(artifacts)) and "protect" in str(error):
                return Preview(notes=(_ANEW,))
            raise _refused(site, artifacts, error) from None
        keeps = {
            engine.urn_of(*program.urn_in(name))
            for name, program in live.items()
            if name not in names
        }
    if names:
        # Other live runs are not touched by this step.
        steps = tuple(step for step in steps if not {step.urn, step.parent} & keeps)
    steps = tuple(step for step in steps if not step.is_component)
    changes = tuple(object_change(f"aws/{site.target}", step) for step in steps)
    return Preview(objects=changes, notes=reasons(steps))


def _is_made_anew(programs: Mapping[str, Program], new: Program) -> bool:
    """Whether it is a volume of another kind than is there: nobody plans that unasked, and
    Pulumi does not preview the deletion of what it protects."""
    old = [item for item in programs.values() if item.is_volume and set(item.files) == {*new.files}]
    return any(_calls(item) != _calls(new) for item in old)


def _calls(program: Program) -> list[str]:
    return _CALL.findall("".join(program.files.values()))


def _refused(site: Site, artifacts: Sequence[Artifact], error: EngineRefused) -> PreviewRefused:
    said = error.said or [(str(error), "")]
    module = next((item.path for item in artifacts if item.name.startswith("Program/")), "")
    path = module or artifacts[0].path
    found = [codes.REFUSED.at(None, _words(words, urn), target=site.target) for words, urn in said]
    return PreviewRefused(str(error), found, [(path, "")] * len(found))


def _words(words: str, urn: str) -> str:
    if not urn:
        return words
    return f"{kind_of(urn.split('::')[2])} {urn.rpartition('::')[2]}: {words}"
