"""`triplane cancel`"""

from __future__ import annotations

import click

from compiler.cli import options


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@options.stack_option
def command(names, stack_path) -> int:
    """End the live runs of NAMEs. What is declared stays declared.

    \b
    Example:
      triplane cancel llama-pretrain --stack stacks/prod.yaml
    """
    from compiler.workflow import cancel

    code = 0
    for said, error in cancel(options.open_stack(stack_path), names):
        if error is None:
            click.echo(said)
        else:
            click.echo(f"error: {said}: {error}", err=True)
            code = max(code, error.exit_code)
    return code
