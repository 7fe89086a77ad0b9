"""`triplane run`"""

from __future__ import annotations

import click

from compiler.cli import options, output, planning


@click.command()
@options.required_paths
@options.stack_option
@click.option("--num-jobs", type=click.IntRange(1, 10_000), default=1, help="How many runs.")
@planning.group_option
@options.target_option
@options.override_policy_option
@click.option("--auto-approve/--ask", default=True, help="Whether to start without asking.")
@options.lock_timeout_option
@options.format_option("text", "json")
@options.quiet_option
@options.override_options
def command(
    paths,
    stack_path,
    num_jobs,
    group,
    only,
    override_policy,
    auto_approve,
    lock_timeout,
    format,
    quiet,
    **overrides,
) -> int:
    """Start one more run of each task at PATH now, beside what the set declares.

    Its number is its own; `apply` neither replaces nor prunes it.

    \b
    Examples:
      triplane run eval.yaml --stack stacks/prod.yaml --env CHECKPOINT=step-900
      triplane run sweep.yaml --stack stacks/prod.yaml --num-jobs 8
      triplane run eval.yaml --stack stacks/prod.yaml --group rl-math
    """
    from compiler.workflow import apply_plan, locator, plan_runs, secrets_for

    stack = options.open_stack(stack_path, override_policy)
    with output.taking_long(f"placing on {', '.join(only or stack.targets)}"):
        planned = plan_runs(
            paths,
            stack,
            num_jobs=num_jobs,
            group=group,
            only=only,
            overrides=options.overrides_from(overrides),
            environ=options.environ(),
        )
    output.print_diagnostics(planned.diagnostics)
    if not auto_approve:
        planning.print_plan(planned.plan, "text", err=format == "json")
    if not planning.approve(planned.plan, auto_approve):
        return 1
    applied = apply_plan(
        planned.plan,
        stack,
        secrets_for(planned, stack),
        output.Progress(quiet),
        locator(planned.loaded.works, stack),
        lock_timeout=lock_timeout,
    )
    return planning.print_applied(applied, planned.plan, format)
