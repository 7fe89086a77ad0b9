"""Values handed over at apply: parameters of Systems Manager, outside every program."""

from __future__ import annotations

from collections.abc import Mapping

from compiler.planning.records import Record
from compiler.planning.states import REMOVED
from compiler.targets.aws.deployer.account import error_of
from compiler.targets.aws.deployer.site import Site
from compiler.targets.interface import Progress


def hand_over(site: Site, values: Mapping[str, str], progress: Progress) -> None:
    """Write the values, encrypted with the account's own key of Systems Manager."""
    for name, value in sorted(values.items()):
        parameter = site.owner.parameter(name)
        progress(f"write parameter {parameter}")
        with site.account.failing():
            site.account.client("ssm").put_parameter(
                Name=parameter,
                Value=value,
                Type="SecureString",
                Overwrite=True,
                Description=f"Handed over to set {site.set_name} by triplane",
            )


def take_back(site: Site, gone: Record) -> None:
    """Remove the parameters of a run that no other run of the set uses."""
    from botocore.exceptions import ClientError

    used = {
        name
        for item in site.store.all()
        if item.record.outcome != REMOVED and item.record.run_key != gone.run_key
        for name in item.record.secrets
    }
    for name in sorted(set(gone.secrets) - used):
        with site.account.failing():
            try:
                site.account.client("ssm").delete_parameter(Name=site.owner.parameter(name))
            except ClientError as error:
                if error_of(error)[0] != "ParameterNotFound":
                    raise
