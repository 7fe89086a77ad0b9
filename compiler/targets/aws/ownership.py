"""Whose something in an AWS account is: a set, on one target, with its records in one place.

Several stacks may have a set of one name, and several targets of a stack the same account and
region or the same bucket. Nothing that one of them makes may be taken for another's.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass

from compiler.model import Stack, TargetSpec
from compiler.targets.aws.options import options_of

_DIGITS = 8
_TAG_VALUE = re.compile(r"[A-Za-z0-9 +=.,_:/@-]{1,256}")


@dataclass(frozen=True, slots=True)
class Ownership:
    """`place` is `<bucket>/<prefix>`, below which the records of the set are."""

    set_name: str
    target: str
    place: str

    @property
    def digest(self) -> str:
        """Eight digits that tell this owner from every other, for names."""
        text = "\n".join((self.set_name, self.target, self.place))
        return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]

    @property
    def tags(self) -> Mapping[str, str]:
        """On everything that is made for the owner; `place` as its digest where it is no tag."""
        place = self.place
        if not _TAG_VALUE.fullmatch(place):
            place = hashlib.sha256(place.encode()).hexdigest()
        return {
            "triplane:set": self.set_name,
            "triplane:target": self.target,
            "triplane:records": place,
        }

    def parameter(self, name: str) -> str:
        """Where a node finds a secret that the stack names no place for."""
        return f"/triplane/{self.set_name}/{self.target}-{self.digest}/{name}"


def owner_of(stack: Stack, target: TargetSpec) -> Ownership:
    options = options_of(target, stack)
    place = f"{options.bucket}/{options.set_prefix(stack.set_name)}"
    return Ownership(stack.set_name, target.key, place)
