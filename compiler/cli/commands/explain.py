"""`triplane explain`"""

from __future__ import annotations

import sys

import click

from compiler.cli import options


@click.command()
@click.argument("field")
@options.format_option("text", "json")
def command(field, format) -> int:
    """Explain a FIELD: type, default, meaning, and what each target makes of it.

    FIELD is a dotted name of the task schema, or `volume:`, `group:`, `stack:` before one; with
    nothing behind the colon, the fields of such a file.

    \b
    Examples:
      triplane explain resources.accelerators
      triplane explain stack:targets
      triplane explain volume:
    """
    from compiler.cli import output
    from compiler.workflow import explain

    found = explain(field)
    if format == "json":
        output.print_json("explanation", found.to_json())
        return 0
    color = output.use_color(sys.stdout)
    click.echo(click.style(found.field, bold=True), color=color)
    for label, value in found.facts():
        click.echo(f"  {label}: {value}")
    for line in found.description:
        click.echo(f"  {line}")
    if found.support:
        click.echo("")
        output.print_table(
            ("TARGET", "FIELD", "SUPPORT", "NOTE"),
            [(kind, row.field, row.level, row.note) for kind, row in found.support],
        )
    return 0
