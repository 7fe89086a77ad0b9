"""`triplane check`"""

from __future__ import annotations

import click

from compiler.cli import options, output


@click.command()
@options.stack_option
@options.format_option("text", "json")
def command(stack_path, format) -> int:
    """Ask each target of the stack: reachable, authorised, version, or why not.

    \b
    Example:
      triplane check --stack stacks/prod.yaml
    """
    from compiler.workflow import check

    stack = options.open_stack(stack_path)
    with output.taking_long(f"asking {', '.join(stack.targets)}"):
        answers = check(stack)
    if format == "json":
        output.print_json(
            "check",
            {
                "targets": [
                    {"name": key, "ok": error is None, "answer": str(error) if error else said}
                    for key, said, error in answers
                ]
            },
        )
    else:
        rows = [
            (
                key,
                stack.targets[key].kind,
                stack.targets[key].deployer,
                "ok" if error is None else "no",
                str(error) if error else said,
            )
            for key, said, error in answers
        ]
        output.print_table(("TARGET", "KIND", "DEPLOYER", "OK", "ANSWER"), rows)
    return max((error.exit_code for _, _, error in answers if error), default=0)
