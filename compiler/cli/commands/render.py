"""`triplane render`"""

from __future__ import annotations

import click

from compiler.cli import options, output


@click.command()
@options.paths_argument
@options.stack_option
@click.option(
    "--out",
    metavar="DIR",
    callback=options.not_empty,
    help="The folder to write to; without it, to standard output.",
)
@options.every_target_option
@options.target_option
@options.override_policy_option
@options.format_option("text", "json")
@options.override_options
def command(
    paths, stack_path, out, every_target, only, format, override_policy, **overrides
) -> int:
    """Write the native artifacts of PATHs (default: the stack's inputs); no cluster needed.

    \b
    Examples:
      triplane render task.yaml --stack stacks/demo.yaml --out rendered/
      triplane render --stack stacks/demo.yaml --every-target --out rendered/
      triplane render task.yaml --stack stacks/demo.yaml | less
    """
    from compiler.workflow import render

    stack = options.open_stack(stack_path, override_policy)
    with output.taking_long("rendering"):
        rendering = render(
            paths,
            stack,
            every_target=every_target,
            only=only,
            overrides=options.overrides_from(overrides),
            environ=options.environ(),
        )
    output.print_diagnostics(rendering.diagnostics)
    changed = rendering.write(out) if out else []
    if format == "json":
        output.print_json(
            "rendering",
            {
                "artifacts": [
                    {"path": item.path, "name": item.name, "kind": item.kind, "sha256": item.digest}
                    | ({} if out else {"text": item.text})
                    for item in rendering.artifacts
                ],
                "changed": changed,
            },
        )
    elif out:
        for path in changed:
            click.echo(f"{out}/{path}")
        unchanged = len(rendering.artifacts) - len(changed)
        click.echo(f"{len(changed)} written, {unchanged} unchanged", err=True)
    else:
        for item in rendering.artifacts:
            click.echo(f"# ---- {item.path}\n{item.text}")
    return 0
