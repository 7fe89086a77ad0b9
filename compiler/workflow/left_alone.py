"""Works about which a plan can say no more than that they are left as they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from compiler.diagnostics import WrongUsage
from compiler.model import Deployer, Stack, TargetSpec
from compiler.placement import Placement
from compiler.planning.outcomes import Action
from compiler.planning.plan import WorkChange
from compiler.planning.states import ObservedRun
from compiler.workflow.desired import placement_row
from compiler.workflow.prepare import Prepared


def stays(last: ObservedRun, at: str) -> WorkChange:
    """Work that is on a target which `--target` leaves out."""
    return WorkChange(
        work=last.record.work,
        target=at,
        kind=last.record.kind,
        action=Action.NOOP,
        reason=f"is on {at}, which --target leaves out",
        run=last.record.run,
        rows=(),
        state=last.state,
        last_run=last.record.run,
    )


def not_asked(
    prepared: Prepared, placement: Placement, stack: Stack, silent: Mapping[str, str]
) -> WorkChange:
    """Work that may be on a target of which nothing is known; `silent` has the reasons."""
    key = next(iter(silent))
    said = "; ".join(f"{target}: {why}" for target, why in silent.items())
    return WorkChange(
        work=prepared.work.name,
        target=key,
        kind=str(stack.targets[key].kind),
        action=Action.UNKNOWN,
        reason=f"cannot be planned while a target that may hold it is silent ({said})",
        run=0,
        rows=(),
        placement=tuple(placement_row(row, placement) for row in placement.rows),
    )


def require_directories(targets: Iterable[TargetSpec]) -> None:
    """Raise WrongUsage for `--every-target` where a target would run the work."""
    others = [spec.key for spec in targets if spec.deployer is not Deployer.DIRECTORY]
    if others:
        raise WrongUsage(
            "--every-target plans only where all targets use `deployer: directory`; "
            f"{', '.join(others)} would each run the work"
        )
