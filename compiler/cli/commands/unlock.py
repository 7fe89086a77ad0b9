"""`triplane unlock`"""

from __future__ import annotations

import click

from compiler.cli import options


@click.command()
@options.stack_option
def command(stack_path) -> int:
    """Break the locks on all targets of the stack, and say who held them.

    Only for locks whose apply is gone: two applies at once can undo each other's work.

    \b
    Example:
      triplane unlock --stack stacks/prod.yaml
    """
    from compiler.workflow import unlock

    for key, holder in unlock(options.open_stack(stack_path)):
        click.echo(f"{key}: was held by {holder}" if holder else f"{key}: was not locked")
    return 0
