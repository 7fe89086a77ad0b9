"""What became of a folder of scripts, in numbers; it grows with the codes, not with the scripts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from compiler.migration.result import Migration, Outcome, Status

_MOST = 15


@dataclass
class Summary:
    """Counts by status, by outcome of directives, by code; decisions and secrets apart."""

    by_status: Counter[str] = field(default_factory=Counter)
    by_outcome: Counter[str] = field(default_factory=Counter)
    by_code: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    needs: Counter[tuple[str, str]] = field(default_factory=Counter)
    names: Counter[str] = field(default_factory=Counter)
    checks: Counter[str] = field(default_factory=Counter)
    with_decisions: int = 0
    with_secrets: int = 0

    def add(self, migration: Migration) -> None:
        self.by_status[str(migration.status)] += 1
        if migration.check is not None:
            self.checks[migration.check] += 1
        self._contents(migration)
        for part in migration.parts:
            self._contents(part)
        if migration.yaml is not None:
            self.names[migration.name] += 1
        self.with_decisions += bool(migration.undecided)
        self.with_secrets += bool(migration.secrets)

    def _contents(self, migration: Migration) -> None:
        self.by_outcome.update(str(entry.outcome) for entry in migration.entries)
        self.by_code.update({entry.code for entry in migration.entries})
        self.by_code.update({note.code for note in migration.notes})
        self.reasons.update({note.code for note in migration.reasons})
        for kind in ("module", "environment", "image"):
            found = {fact.text for fact in migration.facts if fact.kind == kind}
            self._count_needs(kind, found)

    def _count_needs(self, kind: str, texts: set[str]) -> None:
        for text in texts:
            if (kind, text) in self.needs or len(self.needs) < 50_000:
                self.needs[(kind, text[:120])] += 1

    @property
    def total(self) -> int:
        return sum(self.by_status.values())

    @property
    def shared_names(self) -> int:
        """How many names belong to more than one task."""
        return sum(count > 1 for count in self.names.values())

    @property
    def exit_code(self) -> int:
        """1 where a script is refused or unreadable."""
        return int(any(self.by_status[str(status)] for status in Status if status.is_failure))

    def statuses(self) -> Iterator[tuple[str, int]]:
        """Every status that occurs, in the order of Status."""
        for status in Status:
            if self.by_status[str(status)]:
                yield str(status), self.by_status[str(status)]

    def text(self) -> str:
        lines = [f"{self.total} script{'s' * (self.total != 1)}"]
        for name, count in self.statuses():
            lines.append(f"  {name:<12} {count:>7}  {100 * count / self.total:5.1f} %")
        if self.by_outcome:
            lines.append("directives")
            for outcome in Outcome:
                if self.by_outcome[str(outcome)]:
                    lines.append(f"  {outcome:<15} {self.by_outcome[str(outcome)]:>7}")
        if self.checks:
            lines.append("what sbatch understands of the task, compared with the script")
            lines += [f"  {verdict:<12} {count:>7}" for verdict, count in _most(self.checks)]
        if self.reasons:
            lines.append("why scripts are kept")
            for code, count in _most(self.reasons):
                lines.append(f"  {count:>7}  {code}")
        if self.needs:
            lines.append("what they need most")
            for (kind, text), count in _most(self.needs):
                lines.append(f"  {count:>7}  {kind} {text}")
        if self.shared_names:
            text = "names that several tasks have (one set takes each once)"
            lines.append(f"{text}: {self.shared_names}")
        lines.append(f"with decisions to make: {self.with_decisions}")
        lines.append(f"with secrets in the text: {self.with_secrets}")
        return "\n".join(lines) + "\n"

    def tables(self) -> Iterator[tuple[str, list[tuple[Any, ...]]]]:
        """(title, rows) of everything that is counted."""
        rows: list[tuple[Any, ...]] = [
            (name, count, f"{100 * count / self.total:.1f} %") for name, count in self.statuses()
        ]
        yield f"Scripts: {self.total}", rows
        yield (
            "Directives",
            [
                (str(outcome), self.by_outcome[str(outcome)])
                for outcome in Outcome
                if self.by_outcome[str(outcome)]
            ],
        )
        if self.checks:
            yield "What sbatch understands of the task", _most(self.checks)
        yield "Why scripts are kept", _most(self.reasons)
        needs = [(f"{kind} {text}", count) for (kind, text), count in _most(self.needs)]
        yield "What they need most", needs
        yield (
            "To look at",
            [
                ("names that several tasks have", self.shared_names),
                ("with decisions to make", self.with_decisions),
                ("with secrets in the text", self.with_secrets),
            ],
        )

    def data(self) -> dict[str, Any]:
        return {
            "scripts": self.total,
            "by_status": dict(sorted(self.by_status.items())),
            "directives_by_outcome": dict(sorted(self.by_outcome.items())),
            "scripts_by_code": dict(sorted(self.by_code.items())),
            "scripts_by_check": dict(sorted(self.checks.items())),
            "scripts_kept_by_reason": dict(sorted(self.reasons.items())),
            "needs": [
                {"kind": kind, "text": text, "scripts": count}
                for (kind, text), count in _most(self.needs, 200)
            ],
            "shared_names": self.shared_names,
            "with_decisions": self.with_decisions,
            "with_secrets": self.with_secrets,
        }


def _most(counter: Counter[Any], number: int = _MOST) -> list[tuple[Any, int]]:
    """The most frequent, equal ones by name."""
    return sorted(counter.items(), key=lambda item: (-item[1], item[0]))[:number]
