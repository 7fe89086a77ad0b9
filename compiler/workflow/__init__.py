"""The library: what the command line does, as plain calls.

    from compiler.workflow import Diagnostics, load_stack, plan, apply_plan, secrets_for

    diagnostics = Diagnostics()
    stack = load_stack("stacks/prod.yaml", diagnostics)
    diagnostics.raise_if_errors()
    planned = plan([], stack)
    applied = apply_plan(planned.plan, stack, secrets_for(planned, stack))

Every call raises a subclass of `compiler.diagnostics.TriplaneError`, whose `exit_code` is the
command line's, or returns a frozen result; none of them prints or exits.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from compiler.diagnostics import Diagnostics
    from compiler.migration.reporting.writing import write_report
    from compiler.targets.interface import Streams
    from compiler.workflow.apply import Applied, StepResult, apply_plan
    from compiler.workflow.destroy import plan_destroy
    from compiler.workflow.explanation import Explanation, explain
    from compiler.workflow.inside import SHELL, exec_in
    from compiler.workflow.line_origin import Why, why
    from compiler.workflow.live import (
        RunStatus,
        Status,
        Waited,
        cancel,
        check,
        logs,
        status,
        unlock,
        wait,
    )
    from compiler.workflow.loading import Loaded, load, load_stack
    from compiler.workflow.migration import (
        migrate,
        migrate_command,
        migrate_script,
        migration_settings,
    )
    from compiler.workflow.migration_check import Checked, checked
    from compiler.workflow.once import plan_runs
    from compiler.workflow.planner import Planned, PlanOptions, plan
    from compiler.workflow.policing import letting_pass
    from compiler.workflow.refused import locator
    from compiler.workflow.rendering import Rendering, render
    from compiler.workflow.saved import Opened, open_plan, secrets_for
    from compiler.workflow.sources import line_sources
    from compiler.workflow.stopping import start, stop
    from compiler.workflow.tree_diff import TreeDiff, diff
    from compiler.workflow.validation import Report, validate
    from compiler.workflow.works import Work

# Where each name lives. A name's module is loaded when the name is first used, so that
# `validate` never waits for what only `apply` needs.
_HOME = {
    "Applied": "compiler.workflow.apply",
    "Checked": "compiler.workflow.migration_check",
    "Diagnostics": "compiler.diagnostics",
    "Explanation": "compiler.workflow.explanation",
    "Loaded": "compiler.workflow.loading",
    "Opened": "compiler.workflow.saved",
    "PlanOptions": "compiler.workflow.planner",
    "Planned": "compiler.workflow.planner",
    "Rendering": "compiler.workflow.rendering",
    "Report": "compiler.workflow.validation",
    "RunStatus": "compiler.workflow.live",
    "SHELL": "compiler.workflow.inside",
    "Status": "compiler.workflow.live",
    "StepResult": "compiler.workflow.apply",
    "Streams": "compiler.targets.interface",
    "TreeDiff": "compiler.workflow.tree_diff",
    "Waited": "compiler.workflow.live",
    "Why": "compiler.workflow.line_origin",
    "Work": "compiler.workflow.works",
    "apply_plan": "compiler.workflow.apply",
    "cancel": "compiler.workflow.live",
    "check": "compiler.workflow.live",
    "checked": "compiler.workflow.migration_check",
    "diff": "compiler.workflow.tree_diff",
    "exec_in": "compiler.workflow.inside",
    "explain": "compiler.workflow.explanation",
    "letting_pass": "compiler.workflow.policing",
    "line_sources": "compiler.workflow.sources",
    "load": "compiler.workflow.loading",
    "load_stack": "compiler.workflow.loading",
    "locator": "compiler.workflow.refused",
    "logs": "compiler.workflow.live",
    "migrate": "compiler.workflow.migration",
    "migrate_command": "compiler.workflow.migration",
    "migrate_script": "compiler.workflow.migration",
    "migration_settings": "compiler.workflow.migration",
    "open_plan": "compiler.workflow.saved",
    "plan": "compiler.workflow.planner",
    "plan_destroy": "compiler.workflow.destroy",
    "plan_runs": "compiler.workflow.once",
    "render": "compiler.workflow.rendering",
    "secrets_for": "compiler.workflow.saved",
    "start": "compiler.workflow.stopping",
    "status": "compiler.workflow.live",
    "stop": "compiler.workflow.stopping",
    "unlock": "compiler.workflow.live",
    "validate": "compiler.workflow.validation",
    "wait": "compiler.workflow.live",
    "why": "compiler.workflow.line_origin",
    "write_report": "compiler.migration.reporting.writing",
}

__all__ = [
    "SHELL",
    "Applied",
    "Checked",
    "Diagnostics",
    "Explanation",
    "Loaded",
    "Opened",
    "PlanOptions",
    "Planned",
    "Rendering",
    "Report",
    "RunStatus",
    "Status",
    "StepResult",
    "Streams",
    "TreeDiff",
    "Waited",
    "Why",
    "Work",
    "apply_plan",
    "cancel",
    "check",
    "checked",
    "diff",
    "exec_in",
    "explain",
    "letting_pass",
    "line_sources",
    "load",
    "load_stack",
    "locator",
    "logs",
    "migrate",
    "migrate_command",
    "migrate_script",
    "migration_settings",
    "open_plan",
    "plan",
    "plan_destroy",
    "plan_runs",
    "render",
    "secrets_for",
    "start",
    "status",
    "stop",
    "unlock",
    "validate",
    "wait",
    "why",
    "write_report",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
