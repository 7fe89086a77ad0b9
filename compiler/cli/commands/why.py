"""`triplane why`"""

from __future__ import annotations

import dataclasses

import click

from compiler.cli import options, output


@click.command()
@click.argument("place", metavar="FILE:LINE")
@options.paths_argument
@options.stack_option
@options.format_option("text", "json")
@options.override_options
def command(place, paths, stack_path, format, **overrides) -> int:
    """Say which line of which YAML made a line of a rendered file, and by which rule.

    The tasks are looked for at PATHs (default: the stack's inputs).

    \b
    Examples:
      triplane why rendered/demo/slurm/alpha/demo-hello-1/job.sbatch:7 --stack stacks/demo.yaml
    """
    from compiler.diagnostics.renderers.display import visible
    from compiler.workflow import why

    stack = options.open_stack(stack_path)
    with output.taking_long(f"tracing {place}"):
        found = why(
            place,
            stack,
            paths,
            overrides=options.overrides_from(overrides),
            environ=options.environ(),
        )
    if format == "json":
        output.print_json("why", dataclasses.asdict(found))
        return 0
    click.echo(visible(found.text))
    of = f"work {found.work}" if found.work else f"target {found.target} as a whole"
    click.echo(f"  in    {visible(found.path)} ({of})")
    for source in found.origin.sources:
        click.echo(
            f"  from  {visible(source.location)}  {source.document}: {visible(source.field)}"
        )
    for rule in found.origin.rules:
        click.echo(f"  by    {visible(rule)}")
    if found.note:
        click.echo(f"note: {found.note}", err=True)
    return 0
