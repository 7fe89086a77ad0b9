"""Ports: what the user listed, kept as a list (ranges are not merged)."""

from __future__ import annotations

from functools import lru_cache

from compiler.diagnostics.codes import model_resources as codes
from compiler.model.builder import Builder, Malformed, shown
from compiler.source.paths import Path

_HIGHEST = 65535
_FORMS = 'a port, a range "8080-8090", several with commas, or a list of those'


@lru_cache(maxsize=512)
def parse_ports(text: str) -> tuple[str, ...]:
    """Ports and ranges of one text: `"80, 8080-8090"` gives `("80", "8080-8090")`."""
    ports = []
    for part in text.split(","):
        low, dash, high = part.strip().partition("-")
        first = _port(part, low)
        last = _port(part, high) if dash else first
        if first > last:
            raise Malformed(
                f"the port range {shown(part.strip())} runs backwards",
                expected="the lower port first",
                hint=f'write "{last}-{first}"',
            )
        ports.append(str(first) if first == last else f"{first}-{last}")
    return tuple(ports)


def _port(part: str, text: str) -> int:
    text = text.strip()
    if not (text.isascii() and text.isdigit()):
        raise Malformed(f"{shown(part.strip())} is no port", expected=_FORMS)
    number = int(text) if len(text) <= 6 else _HIGHEST + 1
    if not 1 <= number <= _HIGHEST:
        raise Malformed(f"port {text} does not exist", expected=f"a port from 1 to {_HIGHEST}")
    return number


def build_ports(b: Builder, path: Path, value: object) -> tuple[str, ...]:
    """All ports and ranges in the order written, each once."""
    if value is None or value == "":
        return ()
    found: dict[str, None] = {}
    items = enumerate(value) if isinstance(value, list) else ((None, value),)
    for at, item in items:
        where = path if at is None else (*path, at)
        if isinstance(item, bool) or not isinstance(item, int | str):
            b.unexpected(where, item, _FORMS)
            continue
        found.update(
            dict.fromkeys(b.parsed(codes.PORTS_VALUE, where, parse_ports, str(item)) or ())
        )
    return tuple(found)
