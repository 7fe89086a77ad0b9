"""`triplane logs`"""

from __future__ import annotations

import click

from compiler.cli import options, output


@click.command()
@options.name_argument
@options.stack_option
@click.option("--run", "number", type=int, metavar="N", help="That run instead of the last.")
@click.option("--tail", type=click.IntRange(0), metavar="N", help="Only the last N lines.")
@click.option("--follow/--no-follow", default=True, help="Go on until the run has ended.")
@options.format_option("text", "json")
def command(name, stack_path, number, tail, follow, format) -> int:
    """Print the logs of the last run of NAME, every rank's lines with its prefix.

    \b
    Examples:
      triplane logs llama-pretrain --stack stacks/prod.yaml
      triplane logs llama-pretrain --stack stacks/prod.yaml --tail 50 --no-follow
    """
    from compiler.workflow import logs

    stack = options.open_stack(stack_path)
    for line in logs(stack, name, run=number, follow=follow, tail=tail):
        if format == "json":  # one document a line, so that it can be followed
            output.print_json("log", {"line": line}, indent=None)
        else:
            click.echo(line)
    return 0
