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

from compiler.diagnostics import Diagnostics
from compiler.workflow.apply import Applied, StepResult, apply_plan
from compiler.workflow.destroy import plan_destroy
from compiler.workflow.diff import TreeDiff, diff
from compiler.workflow.explain import Explanation, explain
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
from compiler.workflow.load import Loaded, Work, load, load_stack
from compiler.workflow.once import plan_runs
from compiler.workflow.plan import Planned, PlanOptions, plan
from compiler.workflow.render import Rendering, render
from compiler.workflow.saved import Opened, open_plan, secrets_for
from compiler.workflow.validate import Report, validate

__all__ = [
    "Applied",
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
    "TreeDiff",
    "Waited",
    "Work",
    "apply_plan",
    "cancel",
    "check",
    "diff",
    "explain",
    "load",
    "load_stack",
    "logs",
    "open_plan",
    "plan",
    "plan_destroy",
    "plan_runs",
    "render",
    "secrets_for",
    "status",
    "unlock",
    "validate",
    "wait",
]
