"""Whether a volume is there, which the records alone do not tell."""

from __future__ import annotations

from compiler.diagnostics import WorkFailed
from compiler.planning.records import Record
from compiler.planning.states import RunState
from compiler.targets.aws.deployer.account import Account, error_of
from compiler.targets.aws.deployer.states import Verdict

_GONE = ("InvalidVolume.NotFound", "FileSystemNotFound")


def verdict(account: Account, record: Record, *, has_program: bool) -> Verdict:
    """The state of a volume that is recorded as made, or as begun."""
    if record.identity is None:
        if not has_program:
            return Verdict(RunState.CANCELLED, "never started", submitted=False)
        return Verdict(RunState.PENDING, "the apply that began it did not finish")
    kind, _, identity = record.identity.partition(":")
    there = _is_there(account, kind, identity)
    if there is False:
        return Verdict(RunState.VANISHED, "it is gone with what it held", final=True)
    return Verdict(RunState.RUNNING, "" if there else "AWS does not say whether it is there")


def _is_there(account: Account, kind: str, identity: str) -> bool | None:
    """None for whoever may not ask. `kind` is what the program's volumes module calls it."""
    from botocore.exceptions import ClientError

    try:
        with account.failing():
            try:
                match kind:
                    case "disk":
                        answer = account.client("ec2").describe_volumes(VolumeIds=[identity])
                        return any(item["State"] != "deleted" for item in answer["Volumes"])
                    case "shared":
                        efs = account.client("efs")
                        return bool(efs.describe_file_systems(FileSystemId=identity)["FileSystems"])
                fsx = account.client("fsx")
                return bool(fsx.describe_file_systems(FileSystemIds=[identity])["FileSystems"])
            except ClientError as error:
                if error_of(error)[0] in _GONE:
                    return False
                raise
    except WorkFailed as error:
        if "UnauthorizedOperation" in str(error) or "AccessDenied" in str(error):
            return None
        raise
