"""The rules of a stack's `policy`: for each candidate of a task, and for a plan as a whole."""

from compiler.planning.policy.facts import PlanFacts, Violation, WorkFacts
from compiler.planning.policy.of_candidates import RULES_OF_CANDIDATES, candidate_findings
from compiler.planning.policy.of_plans import RULES_OF_PLANS, plan_findings
from compiler.planning.policy.rule import Finding, known_rules

__all__ = [
    "RULES_OF_CANDIDATES",
    "RULES_OF_PLANS",
    "Finding",
    "PlanFacts",
    "Violation",
    "WorkFacts",
    "candidate_findings",
    "known_rules",
    "plan_findings",
]
