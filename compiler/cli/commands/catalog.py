"""`triplane catalog`"""

from __future__ import annotations

import re

import click

from compiler.cli import options, output

_REGION = re.compile(r"[a-z]{2}(-[a-z]+)+-\d+")


@click.command()
@click.argument("accelerator", required=False)
@click.option("--region", default="us-east-1", show_default=True, help="For AWS prices.")
@options.format_option("text", "json")
def command(accelerator, region, format) -> int:
    """List the known accelerators, or the AWS instance types that have ACCELERATOR.

    \b
    Examples:
      triplane catalog
      triplane catalog H100
    """
    from compiler import catalog
    from compiler.diagnostics import WrongUsage

    if not _REGION.fullmatch(region):
        raise WrongUsage(f"{region!r} is no AWS region; one looks like `eu-central-1`")
    header: tuple[str, ...]
    rows: list[tuple[str, ...]]
    if accelerator is None:
        rows = [
            (model.name, str(model.family), f"{model.memory_gib:g}")
            for model in catalog.accelerators().values()
        ]
        header = ("ACCELERATOR", "FAMILY", "GIB")
    else:
        resolution = catalog.resolve_accelerator(accelerator)
        if resolution.name is None:
            near = ", ".join(resolution.candidates)
            raise WrongUsage(
                f"no accelerator {accelerator!r}" + (f"; did you mean {near}?" if near else "")
            )
        rows = []
        for count in catalog.counts_of(resolution.name):
            for row in catalog.instance_types(
                accelerator=resolution.name, count=count, region=region
            ):
                usd = catalog.price(row.name, region)
                rows.append(
                    (
                        row.name,
                        f"{resolution.name}:{count:g}",
                        str(row.vcpus),
                        f"{row.memory_gib:g}",
                        str(row.efa_interfaces),
                        "" if usd is None else f"{usd:.4f}",
                    )
                )
        if not any(row[-1] for row in rows):
            click.echo(f"note: the catalogue has no prices of {region}", err=True)
        header = ("INSTANCE", "ACCELERATORS", "VCPUS", "GIB", "EFA", "USD/H")
    if format == "json":
        keys = [name.lower().replace("/", "_per_") for name in header]
        output.print_json("catalog", {"rows": [dict(zip(keys, row, strict=True)) for row in rows]})
    else:
        output.print_table(header, rows)
    return 0
