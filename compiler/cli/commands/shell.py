"""`triplane shell`"""

from __future__ import annotations

import sys

import click

from compiler.cli import options, output
from compiler.cli.commands.exec import run


@click.command()
@options.name_argument
@options.stack_option
@click.option("--run", "number", type=int, metavar="N", help="That run instead of the last.")
@click.option("--rank", type=click.IntRange(0), default=0, show_default=True, help="On which rank.")
@options.task_option
def command(name, stack_path, number, rank, task) -> int:
    """Open a shell beside the live run of NAME, in its environment and folder.

    \b
    Example:
      triplane shell llama-pretrain --rank 1 --stack stacks/prod.yaml
    """
    from compiler.workflow import SHELL

    if not (output.is_terminal(sys.stdin) and output.is_terminal(sys.stdout)):
        raise click.UsageError("a shell needs a terminal; `triplane exec NAME -- COMMAND` does not")
    return run(stack_path, name, SHELL, number=number, rank=rank, task=task, terminal=True)
