"""`triplane validate`"""

from __future__ import annotations

import click

from compiler.cli import options, output


@click.command()
@options.required_paths
@options.format_option("text", "concise", "json", "sarif", "github")
@click.option("--root", metavar="DIR", help="Where the tasks' relative paths start.")
@click.option("--no-files", is_flag=True, help="Do not check that local files exist.")
@options.override_options
def command(paths, format, root, no_files, **overrides) -> int:
    """Check task, group, volume and stack files; all errors at once, nothing is written.

    \b
    Examples:
      triplane validate task.yaml
      triplane validate tasks/ stacks/prod.yaml
      triplane validate tasks/ --format github     # annotations in a pull request
      cat task.yaml | triplane validate -
    """
    from compiler.workflow import validate

    with output.taking_long(f"checking {', '.join(paths)}"):
        report = validate(
            paths,
            overrides=options.overrides_from(overrides),
            environ=options.environ(),
            root=root,
            check_files=not no_files,
        )
    output.print_diagnostics(report.diagnostics, format, to_stdout=True)
    if format == "text":
        found = output.summary(report.diagnostics) or "no errors"
        files = f"{report.files} file{'s' * (report.files != 1)}"
        click.echo(f"{files}: {found}")
    return 0 if report.is_valid else 1
