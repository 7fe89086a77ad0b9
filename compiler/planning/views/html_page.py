"""The plan as one page that needs nothing else: no server, no font, no script from elsewhere.

Everything of the user's is escaped text; a policy inside the page names the one script and the
one style that a browser may use, by their hashes.
"""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

from compiler.planning.outcomes import Action
from compiler.planning.plan import ObjectChange, Plan, WorkChange
from compiler.planning.plan_file import plan_id
from compiler.planning.views.side_by_side import Row, changed_rows, created_rows
from compiler.planning.views.wording import (
    SIGNS,
    explanations,
    headline,
    next_steps,
    sums,
    title,
    visible,
)
from compiler.resources import data_folder

if TYPE_CHECKING:
    from jinja2 import Template
    from markupsafe import Markup

_ROWS_OF_OBJECT = 2_000
_ROWS_OF_PAGE = 60_000
# Works up to here are open from the start.
_OPEN = 12
_STYLES = {"+": "good", "-": "bad", "~": "warn", "±": "warn", "✗": "bad", "!": "warn", "?": "warn"}

Sources = Mapping[str, Mapping[int, str]]
"""By the path of an artifact and the number of a line (from 1): where the line comes from."""


def html_view(plan: Plan, *, sources: Sources | None = None, plan_file: str | None = None) -> str:
    """The page. What is cut because it is too long is said where it is cut."""
    style, script = _asset("page.css"), _asset("page.js")
    room = _ROWS_OF_PAGE
    works = []
    for at, change in enumerate(plan.works):
        body, used = _work(change, at, sources or {}, room)
        works.append(body)
        room -= used
    cost = plan.cost_of_changes()
    data = {
        "style": style,
        "script": script,
        "style_hash": _hash(style),
        "script_hash": _hash(script),
        "headline": headline(plan),
        "set": visible(plan.set),
        "stack": visible(plan.stack),
        "id": plan_id(plan),
        "remarks": [visible(line) for line in (*sums(plan), *next_steps(plan))],
        "command": f"triplane apply {visible(plan_file)}" if plan_file and plan.applyable else "",
        "actions": _counted(str(change.action) for change in plan.works),
        "targets": _counted(change.target for change in plan.works),
        "works": works,
        "hourly": _money(cost.hourly) + ("+?" if cost.unknown else ""),
        "total": _money(cost.total),
    }
    return _template().render(data)


def _work(change: WorkChange, at: int, sources: Sources, room: int) -> tuple[dict, int]:
    """What the template shows of one work, and how many rows that takes."""
    sign = SIGNS[change.action].strip()
    quiet = not change.action.changes
    objects, used = [], 0
    for item in change.objects:
        if item.action is not Action.NOOP:
            body = _object(item, sources.get(item.path, {}), min(_ROWS_OF_OBJECT, room - used))
            objects.append(body)
            used += len(body["rows"])
    cost = change.cost
    body = {
        "anchor": f"work-{at + 1}",
        "name": visible(change.work),
        "target": visible(change.target),
        "action": str(change.action),
        "sign": sign,
        "style": _STYLES.get(sign, "quiet"),
        "title": visible(title(change)),
        "run": change.run or "",
        "reasons": [visible(line) for line in explanations(change)],
        "objects": objects,
        "open": at < _OPEN and not quiet,
        "hourly": "" if cost is None else "?" if cost.hourly is None else _money(cost.hourly),
        "total": "" if cost is None or cost.total is None else _money(cost.total),
    }
    return body, used


def _object(item: ObjectChange, sources: Mapping[int, str], room: int) -> dict:
    sign = SIGNS[item.action].strip()
    both = bool(item.fields)
    found: Iterable[Row] = ()
    if both:
        found = changed_rows(item.fields)
    elif item.action is not Action.DELETE:
        found = created_rows(item, sources)
    rows: Sequence[Row] = list(islice(found, max(room, 0) + 1))
    cut = len(rows) > room
    return {
        "path": visible(item.path),
        "action": str(item.action),
        "sign": sign,
        "style": _STYLES.get(sign, "quiet"),
        "both": both,
        "rows": rows[: max(room, 0)],
        "open": both,
        "cut": "The rest is too long for this page; all of it is in the saved plan." if cut else "",
    }


def _counted(names: Iterable[str]) -> list[dict[str, object]]:
    return [
        {"name": visible(name), "count": count} for name, count in sorted(Counter(names).items())
    ]


def _money(usd: float) -> str:
    return f"{usd:.2f}"


def _hash(text: str) -> str:
    """As a content security policy names an inline text."""
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"sha256-{digest}"


@cache
def _asset(name: str) -> Markup:
    """A style or a script of ours, which the template takes as it is."""
    from markupsafe import Markup

    return Markup((data_folder("templates") / "plan" / name).read_text(encoding="utf-8"))


@cache
def _template() -> Template:
    """Unlike the templates of artifacts this one escapes whatever it is given."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(data_folder("templates"), encoding="utf-8"),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    return made.get_template("plan/page.html.j2")
