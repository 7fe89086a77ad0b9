"""How many accelerators the limits of our account and QOS leave, from sacctmgr and squeue."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from compiler.model import Stack, TargetKind, TargetSpec
from compiler.model.config import scoped
from compiler.targets.slurm.deployer.remote import Answer

_GPU = "gres/gpu"


@dataclass(frozen=True, slots=True)
class Charged:
    """What the stack says jobs are charged to; None leaves it to the cluster's defaults."""

    account: str | None = None
    qos: str | None = None


def charged(stack: Stack, target: TargetSpec) -> Charged:
    """By `slurm.quota` of the stack's configuration, for tasks that say nothing themselves."""
    quota = scoped(stack.config, TargetKind.SLURM, target.key, stack.workspace, {}, "quota")
    if not isinstance(quota, Mapping):
        return Charged()
    return Charged(_text(quota.get("account")), _text(quota.get("queue")))


def room(answer: Answer, charged: Charged) -> dict[str, int]:
    """Accelerators that we may still ask for, by Slurm's type, "" for any; what is not limited is
    not in it.

    A limit that is shared with others counts as if they used none of it. Lines of `answer`:
    `assoc|<default account>|<account>|<default QOS>|<MaxTRES>|<GrpTRES>`,
    `qos|<name>|<MaxTRESPU>|<MaxTRES>|<GrpTRES>`, `used|<account>|<QOS>|<TRES>`.
    """
    rows = [line.split("|") for line in answer.of("assoc")]
    rows = [row for row in rows if len(row) == 5 and row[1] == (charged.account or row[0])]
    if not rows:
        return {}
    _, account, default_qos, per_job, shared = rows[0]
    qos = charged.qos or default_qos
    left = [gpus(per_job), _minus(gpus(shared), _used(answer, account=account))]
    for line in answer.of("qos"):
        name, *limits = line.split("|")
        if name == qos and len(limits) == 3:
            per_user, of_a_job, of_all = map(gpus, limits)
            ours = _used(answer, qos=qos)
            left += [_minus(per_user, ours), of_a_job, _minus(of_all, ours)]
    found: dict[str, int] = {}
    for limits_left in left:
        for kind, count in limits_left.items():
            found[kind] = min(count, found.get(kind, count))
    return found


def gpus(tres: str) -> dict[str, int]:
    """`cpu=8,gres/gpu=4,gres/gpu:h100=2` -> {"": 4, "h100": 2}."""
    found = {}
    for item in tres.split(","):
        name, _, count = item.partition("=")
        kind = name.removeprefix(_GPU)
        if name.startswith(_GPU) and kind[:1] in ("", ":") and count.isdigit():
            found[kind.removeprefix(":")] = int(count)
    return found


def _used(answer: Answer, account: str | None = None, qos: str | None = None) -> Counter[str]:
    used: Counter[str] = Counter()
    for line in answer.of("used"):
        of_account, of_qos, tres = map(str.strip, line.split("|", 2))
        if account in (None, of_account) and qos in (None, of_qos):
            used.update(gpus(tres))
    return used


def _minus(limits: Mapping[str, int], used: Mapping[str, int]) -> dict[str, int]:
    return {kind: max(0, count - used.get(kind, 0)) for kind, count in limits.items()}


def said(room: Mapping[str, int]) -> str:
    """For people: `at most 4 GPUs, 2 h100`; empty where nothing is limited."""
    words = [f"{count} {kind or 'GPUs'}" for kind, count in sorted(room.items())]
    return f"at most {', '.join(words)} by account and QOS" if words else ""


def _text(value: object) -> str | None:
    return None if value is None else str(value)
