"""`triplane plan`"""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from compiler.cli import options, output, planning


@click.command()
@options.paths_argument
@options.stack_option
@click.option(
    "--out",
    metavar="FILE",
    callback=options.not_empty,
    help="Save the plan, for `triplane apply FILE`.",
)
@click.option("--offline", is_flag=True, help="Ask no cluster; only directories are compared.")
@click.option(
    "--read-only",
    is_flag=True,
    help="For changes that nobody has reviewed: targets are only asked, no file outside of the "
    "base is read, no secret's value is needed, and the plan cannot be applied.",
)
@click.option("--detailed-exitcode", is_flag=True, help="Exit with 2 if there are changes.")
@options.format_option("text", "json", "markdown", "html")
@planning.plan_flags
@options.override_options
def command(
    paths, stack_path, out, offline, read_only, detailed_exitcode, format, **arguments
) -> int:
    """Show what an apply of PATHs, or of the whole set without PATHs, would change, and why.

    Only without PATHs (and filters) are deletions planned.

    \b
    Examples:
      triplane plan --stack stacks/prod.yaml
      triplane plan tasks/train.yaml --stack stacks/prod.yaml --out plan.json
      triplane plan --stack stacks/prod.yaml --format markdown >comment.md
      triplane plan --stack stacks/prod.yaml --format html >plan.html
      triplane plan --stack stacks/prod.yaml --detailed-exitcode   # 2: there are changes
      triplane plan --stack stacks/prod.yaml --read-only --format markdown
    """
    from compiler.diagnostics import InvalidInput
    from compiler.diagnostics.codes.workflow import OUTPUT_FOLDER
    from compiler.planning.plan_file import to_json
    from compiler.rendering.tree import why_no_folder, write_atomically
    from compiler.workflow import line_sources, plan

    if out:
        why = why_no_folder(_place(out).parent)
        if why is not None:
            raise InvalidInput([OUTPUT_FOLDER.at(None, why)])
    stack = options.open_stack(stack_path, arguments["override_policy"])
    with output.taking_long(f"planning set {stack.set_name} on {', '.join(stack.targets)}"):
        planned = plan(
            paths,
            stack,
            options=planning.plan_options(arguments, offline=offline, read_only=read_only),
            overrides=options.overrides_from(arguments),
            environ=options.environ(),
        )
    output.print_diagnostics(planned.diagnostics, "concise")
    sources = None
    if format == "html":
        with output.taking_long("tracing every line"):
            sources = line_sources(planned, stack, environ=options.environ())
    planning.print_plan(planned.plan, format, plan_file=out, sources=sources)
    if out:
        write_atomically(_place(out), to_json(planned.plan))
        if format == "text":
            words = shlex.join(["triplane", "apply", *_behind_dashes(out)])
            click.echo(f"Saved; to carry out exactly this: {words}", err=True)
    if planned.plan.unreachable:
        return 3
    return 2 if detailed_exitcode and planned.plan.has_changes else 0


def _behind_dashes(path: str) -> list[str]:
    return ["--", path] if path.startswith("-") else [path]


def _place(out: str) -> Path:
    """Where to save: behind links, and never in place of a device or of somebody's YAML."""
    if Path(out).exists() and not (Path(out).is_file() or Path(out).is_dir()):
        raise click.UsageError(f"--out {out} is no regular file; `--format json` prints the plan")
    place = Path(out).resolve()
    if place.is_dir():
        raise click.UsageError(f"--out {out} is a folder: name a file, as in plan.json")
    if place.suffix in (".yaml", ".yml"):
        raise click.UsageError(f"--out {out} looks like an input; a plan is JSON, as in plan.json")
    return place
