"""`triplane apply`"""

from __future__ import annotations

from pathlib import Path

import click

from compiler.cli import options, output, planning


@click.command()
@options.paths_argument
@click.option(
    "--stack",
    "stack_path",
    envvar="TRIPLANE_STACK",
    metavar="FILE",
    help="The stack file (a saved plan names its own).",
)
@click.option("--auto-approve", is_flag=True, help="Do not ask before changing anything.")
@click.option(
    "--wait",
    "wait_for",
    type=click.Choice(["accepted", "running", "finished"]),
    default="accepted",
    show_default=True,
    help="When to return.",
)
@click.option("--timeout", type=float, metavar="SECONDS", help="How long --wait may take.")
@options.quiet_option
@planning.plan_flags
@options.override_options
def command(paths, stack_path, auto_approve, wait_for, timeout, quiet, **arguments) -> int:
    """Carry out a saved plan FILE, or plan PATHs (or the whole set) and carry that out.

    A saved plan is applied byte for byte or not at all: exit code 4 says what moved.

    \b
    Examples:
      triplane apply --stack stacks/prod.yaml
      triplane apply tasks/train.yaml --stack stacks/prod.yaml --auto-approve --wait running
      triplane apply plan.json
    """
    from compiler.workflow import apply_plan, open_plan, plan, secrets_for

    overrides = options.overrides_from(arguments)
    saved = _saved_plan(paths)
    if saved is not None:
        opened = open_plan(saved, stack_path, overrides=overrides, environ=options.environ())
        the_plan, stack, secrets = opened.plan, opened.stack, opened.secrets
    else:
        if not stack_path:
            raise click.UsageError("Missing option '--stack' (only a saved plan goes without).")
        stack = options.open_stack(stack_path)
        planned = plan(
            paths,
            stack,
            options=planning.plan_options(arguments),
            overrides=overrides,
            environ=options.environ(),
        )
        output.print_diagnostics(planned.diagnostics, "concise")
        planning.print_plan(planned.plan, "text")
        the_plan, secrets = planned.plan, secrets_for(planned, stack)
    if not planning.approve(the_plan, auto_approve or saved is not None):
        return 1
    progress = output.Progress(quiet)
    applied = apply_plan(the_plan, stack, secrets, progress)
    code = planning.print_applied(applied, the_plan)
    if code == 0 and wait_for != "accepted":
        code = planning.wait_for_runs(stack, applied, wait_for, timeout, progress)
    return code


def _saved_plan(paths) -> str | None:
    """The path, if the only one given is a plan file (JSON) and not YAML to be planned."""
    if len(paths) == 1 and Path(paths[0]).suffix == ".json":
        return paths[0]
    if any(Path(path).suffix == ".json" for path in paths):
        raise click.UsageError("a saved plan is applied alone, without other paths")
    return None
