"""The one Jinja environment of the program, and the quoting filters that templates use.

Templates only shape text: what they print is data that was lowered before, and every string
of the user's passes the filter made for where it lands.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from compiler.rendering import quoting
from compiler.rendering.yaml_block import block
from compiler.resources import data_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

FILTERS: Mapping[str, Callable[..., str]] = {
    "sh": quoting.sh,
    "shdq": quoting.shdq,
    "sbatch": quoting.sbatch,
    "heredoc": quoting.heredoc,
    "py": quoting.py,
    "yaml_scalar": quoting.yaml_scalar,
    "block": block,
}


@cache
def environment() -> Environment:
    """The environment over `templates/`; a template is compiled once in the process's life.

    A name that the template was not given is an error (StrictUndefined), and nothing is
    escaped by itself: the filters are the only quoting there is.
    """
    made = Environment(
        loader=FileSystemLoader(data_folder("templates"), encoding="utf-8"),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
        cache_size=-1,
    )
    made.filters.update(FILTERS)
    return made


def render(template: str, data: Mapping[str, object]) -> str:
    """The text of `template` (a path below `templates/`, with forward slashes)."""
    return environment().get_template(template).render(data)
