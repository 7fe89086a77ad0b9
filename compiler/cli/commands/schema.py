"""`triplane schema`"""

from __future__ import annotations

import json

import click


@click.command()
@click.argument("kind", required=False)
def command(kind) -> int:
    """Print the JSON Schema of KIND as one file, or the kinds there are.

    \b
    Examples:
      triplane schema
      triplane schema task >task.schema.json
    """
    from compiler.source import bundled, schema_names, suggest

    if kind is None:
        for name in schema_names():
            click.echo(name)
        return 0
    if kind not in schema_names():
        close = suggest(kind, schema_names())
        hint = f"did you mean `{close}`?" if close else f"there are {', '.join(schema_names())}"
        raise click.UsageError(f"no schema {kind!r}; {hint}")
    click.echo(json.dumps(bundled(kind), indent=2, ensure_ascii=False))
    return 0
