"""Where each task goes: one table over every target that the task allows."""

from compiler.placement.infra import matching_targets, names_for
from compiler.placement.table import Placement, Row, place
from compiler.placement.together import place_together

__all__ = ["Placement", "Row", "matching_targets", "names_for", "place", "place_together"]
