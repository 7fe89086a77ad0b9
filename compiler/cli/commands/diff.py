"""`triplane diff`"""

from __future__ import annotations

import dataclasses
import sys

import click

from compiler.cli import options, output


@click.command()
@options.paths_argument
@options.stack_option
@click.option("--against", required=True, metavar="DIR|GITREF", help="The other side.")
@options.every_target_option
@options.target_option
@options.override_policy_option
@click.option("--detailed-exitcode", is_flag=True, help="Exit with 2 if anything differs.")
@options.format_option("text", "json")
@options.override_options
def command(
    paths,
    stack_path,
    against,
    every_target,
    only,
    detailed_exitcode,
    format,
    override_policy,
    **overrides,
) -> int:
    """Compare what is rendered now with a rendered folder, or with another git revision.

    \b
    Examples:
      triplane diff --stack stacks/prod.yaml --against rendered/
      triplane diff tasks/ --stack stacks/prod.yaml --against origin/main --detailed-exitcode
    """
    from compiler.planning.views import objects_text
    from compiler.workflow import diff

    stack = options.open_stack(stack_path, override_policy)
    with output.taking_long(f"rendering, and comparing with {against}"):
        result = diff(
            paths,
            stack,
            against,
            only=only,
            every_target=every_target,
            overrides=options.overrides_from(overrides),
            environ=options.environ(),
        )
    output.print_diagnostics(result.diagnostics)
    if format == "json":
        objects = [
            {
                "path": item.path,
                "name": item.name,
                "action": item.action,
                "fields": [dataclasses.asdict(field) for field in item.fields],
            }
            for item in result.objects
        ]
        output.print_json("diff", {"against": against, "objects": objects})
    else:
        color = output.use_color(sys.stdout)
        width = output.width(sys.stdout) if output.is_terminal(sys.stdout) else None
        text = objects_text(result.objects, color=color, width=width)
        click.echo(text, nl=False, color=True)
        count = len(result.objects)
        words = "1 file differs" if count == 1 else f"{count} files differ"
        click.echo(words if count else "no differences")
    return 2 if detailed_exitcode and result.has_changes else 0
