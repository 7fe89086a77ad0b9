"""`triplane start`"""

from __future__ import annotations

import click

from compiler.cli import options, output
from compiler.cli.commands.stop import report
from compiler.cli.completing import complete_works


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...", shell_complete=complete_works)
@options.stack_option
@options.format_option("text", "json")
@options.quiet_option
def command(names, stack_path, format, quiet) -> int:
    """Start stopped runs of NAMEs again, with the file systems that their containers had.

    \b
    Example:
      triplane start workbench --stack stacks/prod.yaml
    """
    from compiler.workflow import start

    results = start(options.open_stack(stack_path), names, output.Progress(quiet))
    return report(results, "started", format)
