"""`triplane stop`"""

from __future__ import annotations

import click

from compiler.cli import options, output
from compiler.cli.completing import complete_works


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...", shell_complete=complete_works)
@options.stack_option
@options.format_option("text", "json")
@options.quiet_option
def command(names, stack_path, format, quiet) -> int:
    """Give the nodes of NAMEs back and keep the file systems of their containers.

    `start` restores them in a new allocation. Processes are not kept: `run` begins anew, and
    setup is not run again.

    \b
    Example:
      triplane stop workbench --stack stacks/prod.yaml
    """
    from compiler.workflow import stop

    results = stop(options.open_stack(stack_path), names, output.Progress(quiet))
    return report(results, "stopped", format)


def report(results, shape: str, format: str) -> int:
    """What became of each work; the exit code."""
    for said, error in results:
        if error is not None:
            click.echo(f"error: {said}: {error}", err=True)
        elif format == "text":
            click.echo(said)
    if format == "json":
        rows = [
            {"what": said, "ok": error is None, "error": str(error) if error else None}
            for said, error in results
        ]
        output.print_json(shape, {"results": rows})
    return max((error.exit_code for _, error in results if error), default=0)
