"""What all rules share: a finding, with the place of the rule and of what breaks it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from compiler.diagnostics import Code, Diagnostic, Related, Severity, Span
from compiler.model import Stack

PLUGINS = "plugins"


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule (its key in the stack's `policy`, or a plug-in's name) that is broken.

    `work` is the task that breaks it, empty for the plan as a whole.
    """

    rule: str
    diagnostic: Diagnostic
    work: str = ""

    def overridden(self) -> Diagnostic:
        """The same as a warning, which says what lets it pass."""
        message = f"{self.diagnostic.message} (let pass by --override-policy {self.rule})"
        return replace(self.diagnostic, severity=Severity.WARNING, message=message, hint=None)


def finding(
    code: Code,
    stack: Stack,
    rule: str,
    span: Span | None,
    message: str,
    *,
    work: str = "",
    hint: str | None = None,
    expected: str | None = None,
) -> Finding:
    """A finding at `span` of a task (None: at the rule itself), with the rule beside it."""
    at_rule = rule_span(stack, rule)
    related = [Related("the rule", at_rule)] if span is not None else []
    diagnostic = code.at(span or at_rule, message, hint=hint, expected=expected, related=related)
    return Finding(rule, diagnostic, work)


def rule_span(stack: Stack, rule: str) -> Span:
    """Where the stack has the rule: the key of a plug-in, or the rule's own."""
    if rule in stack.policy:
        return stack.origin.key_span("policy", rule)
    return stack.origin.key_span("policy", PLUGINS, rule)


def known_rules(policy: Mapping[str, object]) -> list[str]:
    """The names that can be overridden: the keys that the stack sets, and its plug-ins."""
    plugins = policy.get(PLUGINS)
    named = list(plugins) if isinstance(plugins, Mapping) else []
    return [*(key for key, value in policy.items() if key != PLUGINS and value is not None), *named]
