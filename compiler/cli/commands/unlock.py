"""`triplane unlock`"""

from __future__ import annotations

import click

from compiler.cli import options, output


@click.command()
@options.stack_option
@options.format_option("text", "json")
def command(stack_path, format) -> int:
    """Break the locks on all targets of the stack, and say who held them.

    Only for locks whose apply is gone: two applies at once can undo each other's work.

    \b
    Example:
      triplane unlock --stack stacks/prod.yaml
    """
    from compiler.workflow import unlock

    stack = options.open_stack(stack_path)
    with output.taking_long(f"unlocking {', '.join(stack.targets)}"):
        answers = unlock(stack)
    for key, holder, error in answers:
        if error is not None:
            click.echo(f"error: {error}", err=True)
        elif format == "text":
            click.echo(f"{key}: was held by {holder}" if holder else f"{key}: was not locked")
    if format == "json":
        output.print_json(
            "unlocked",
            {
                "targets": [
                    {"name": key, "held_by": holder, "error": str(error) if error else None}
                    for key, holder, error in answers
                ]
            },
        )
    return max((error.exit_code for _, _, error in answers if error), default=0)
