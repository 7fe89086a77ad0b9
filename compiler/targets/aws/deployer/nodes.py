"""The instances of a set's runs on a target, as EC2 lists them by their tags."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from compiler.diagnostics import WorkFailed
from compiler.targets.aws.deployer.account import Account
from compiler.targets.aws.deployer.states import Node
from compiler.targets.aws.ownership import Ownership


def nodes_of(account: Account, owner: Ownership) -> Mapping[str, list[Node]] | None:
    """Instances by run key (`<work>.<run>`), in the order of their ranks.

    None for whoever may not list instances: the bucket alone then says what runs do.
    """
    found: dict[str, list[tuple[int, Node]]] = defaultdict(list)
    filters = [{"Name": f"tag:{key}", "Values": [value]} for key, value in owner.tags.items()]
    try:
        with account.failing():
            pages = account.client("ec2").get_paginator("describe_instances")
            for page in pages.paginate(Filters=filters):
                for reservation in page["Reservations"]:
                    for item in reservation["Instances"]:
                        tags = {tag["Key"]: tag["Value"] for tag in item.get("Tags", ())}
                        key = f"{tags.get('triplane:work')}.{tags.get('triplane:run')}"
                        rank = tags.get("triplane:rank", "")
                        found[key].append((int(rank) if rank.isdigit() else 0, _node(item)))
    except WorkFailed as error:
        if "UnauthorizedOperation" in str(error) or "AccessDenied" in str(error):
            return None
        raise
    ordered = {key: sorted(nodes, key=lambda pair: pair[0]) for key, nodes in found.items()}
    return {key: [node for _, node in nodes] for key, nodes in ordered.items()}


def terminate(account: Account, ids: list[str]) -> None:
    with account.failing():
        account.client("ec2").terminate_instances(InstanceIds=ids)


def _node(item: Mapping) -> Node:
    reason = (item.get("StateReason") or {}).get("Message", "")
    return Node(item["InstanceId"], item["State"]["Name"], f"({reason})" if reason else "")
