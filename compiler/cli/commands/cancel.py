"""`triplane cancel`"""

from __future__ import annotations

import click

from compiler.cli import options, output
from compiler.cli.completing import complete_works


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...", shell_complete=complete_works)
@options.stack_option
@options.format_option("text", "json")
def command(names, stack_path, format) -> int:
    """End the live runs of NAMEs. What is declared stays declared.

    \b
    Example:
      triplane cancel llama-pretrain --stack stacks/prod.yaml
    """
    from compiler.workflow import cancel

    stack = options.open_stack(stack_path)
    with output.taking_long(f"ending {', '.join(names)}"):
        results = cancel(stack, names)
    for said, error in results:
        if error is not None:
            click.echo(f"error: {said}: {error}", err=True)
        elif format == "text":
            click.echo(said)
    if format == "json":
        output.print_json(
            "cancelled",
            {
                "results": [
                    {"what": said, "ok": error is None, "error": str(error) if error else None}
                    for said, error in results
                ]
            },
        )
    return max((error.exit_code for _, error in results if error), default=0)
