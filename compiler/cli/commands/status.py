"""`triplane status`"""

from __future__ import annotations

import dataclasses

import click

from compiler.cli import options, output
from compiler.cli.completing import remember


@click.command()
@options.names_argument
@options.stack_option
@options.target_option
@options.format_option("text", "json")
def command(names, stack_path, only, format) -> int:
    """Show every recorded run of the set with its live state and waiting reason.

    \b
    Examples:
      triplane status --stack stacks/prod.yaml
      triplane status llama-pretrain --stack stacks/prod.yaml --format json
    """
    from compiler.workflow import status

    stack = options.open_stack(stack_path)
    with output.taking_long(f"asking {', '.join(only or stack.targets)}"):
        result = status(stack, names, only=only)
    remember(stack_path, (item.work for item in result.runs))
    if format == "json":
        output.print_json(
            "status",
            {
                "runs": [dataclasses.asdict(item) for item in result.runs],
                "silent": result.silent,
            },
        )
    elif result.runs:
        rows = [
            (
                item.work,
                f"{item.run}{'+' * item.extra}",
                item.target,
                item.state if item.exit_code is None else f"{item.state} ({item.exit_code})",
                item.identity or "",
                item.detail,
            )
            for item in result.runs
        ]
        output.print_table(("WORK", "RUN", "TARGET", "STATE", "ID", "DETAIL"), rows)
    else:
        click.echo("no run is recorded")
    for key, reason in result.silent.items():
        click.echo(f"{key} could not be asked: {reason}", err=True)
    return 3 if result.silent else 0
