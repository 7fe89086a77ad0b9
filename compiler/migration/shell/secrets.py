"""Keys and tokens that stand in a script: found, and never shown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from compiler.migration.shell.body import Body
from compiler.migration.shell.words import Word

_TOKENS = (
    ("HF_TOKEN", ("hf_",), r"hf_[A-Za-z0-9]{30,}"),
    (
        "GITHUB_TOKEN",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        r"gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{50,}",
    ),
    ("GITLAB_TOKEN", ("glpat-",), r"glpat-[A-Za-z0-9_-]{20,}"),
    ("AWS_ACCESS_KEY_ID", ("AKIA", "ASIA"), r"(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Z0-9])"),
    ("ANTHROPIC_API_KEY", ("sk-ant-",), r"sk-ant-[A-Za-z0-9_-]{20,}"),
    ("OPENAI_API_KEY", ("sk-",), r"sk-(?!ant-)[A-Za-z0-9_-]{32,}"),
    ("GOOGLE_API_KEY", ("AIza",), r"AIza[A-Za-z0-9_-]{35}"),
    ("SLACK_TOKEN", ("xox",), r"xox[abprs]-[A-Za-z0-9-]{10,}"),
    (
        "SLACK_WEBHOOK_URL",
        ("hooks.slack.com",),
        r"https://hooks\.slack\.com/services/[A-Za-z0-9/]{20,}",
    ),
    ("NPM_TOKEN", ("npm_",), r"npm_[A-Za-z0-9]{36}"),
    ("PYPI_TOKEN", ("pypi-",), r"pypi-[A-Za-z0-9_-]{50,}"),
    ("TELEGRAM_TOKEN", (":AA",), r"[0-9]{9,10}:AA[A-Za-z0-9_-]{33}"),
    ("JWT", ("eyJ",), r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
)
"""Name, texts of which one is in every such token, and its form."""

_FORMS = tuple(
    (name, marks, re.compile(f"(?<![A-Za-z0-9_-])(?:{form})")) for name, marks, form in _TOKENS
)
# From the beginning of a word on, and schemes of some length only: no text takes squares of time.
_COMMENTED = re.compile(
    r"(?<![A-Za-z0-9_])(?P<name>[A-Za-z_][A-Za-z0-9_]*)=[\"']?(?P<value>[^\s\"'#;]+)"
)
_URL = re.compile(r"[a-z][a-z0-9+.-]{0,30}://[^\s/:@'\"$]+:(?P<password>[^\s/@'\"${}<>]{3,})@")
_NAMES = re.compile(
    r"(?:^|_)(?:API_?KEY|ACCESS_?KEY(?:_?ID)?|SECRET(?:_?(?:ACCESS)?_?KEY)?|TOKEN|PASSWORD|PASSWD"
    r"|PASSPHRASE|PRIVATE_?KEY|CREDENTIALS?|AUTH_?KEY)(?:_[0-9]+)?$",
    re.IGNORECASE,
)
_FLAGS = re.compile(
    r"--?(?:[a-z0-9]+[_-])*(?:api[_-]?key|token|password|passwd|secret(?:[_-]key)?)(?:=(?P<v>.*))?$",
    re.IGNORECASE | re.DOTALL,
)
_HEX_KEY = re.compile(r"[0-9a-f]{40}")
_PLACEHOLDER = re.compile(
    r"(?:x+|#+|\.+|\*+|-+|none|null|true|false|yes|no|changeme|<.*>|\[.*\]|\{.*\}|your.*|my.*|todo.*"
    r"|example.*|.*here|dummy.*|test.*|foo.*|bar.*|offline|online|disabled|[0-9]{1,6})",
    re.IGNORECASE,
)
_PRIVATE = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----")
_SHORTEST = 8


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret in the text: `start` and `end` are byte offsets of the value alone.

    `name` is what it is called from now on; `how` says where it stands: assignment, word,
    comment, text. The value itself is only for taking it out.
    """

    name: str
    line: int
    start: int
    end: int
    how: str
    value: str = field(repr=False, compare=False)


def find(text: str, body: Body) -> tuple[Secret, ...]:
    """Every secret, in the order of the text, without overlap; the surest reading wins."""
    found: list[Secret] = []
    for secret in (
        *_assigned(body),
        *_flagged(body),
        *_logins(body),
        *_tokens(text),
        *_commented(text, body),
    ):
        if not any(secret.start < other.end and other.start < secret.end for other in found):
            found.append(secret)
    return tuple(sorted(found, key=lambda secret: secret.start))


def private_keys(text: str) -> list[int]:
    """Lines at which a private key begins; it cannot be handed over as a variable's value."""
    return [text[: match.start()].count("\n") + 1 for match in _PRIVATE.finditer(text)]


def _assigned(body: Body) -> Iterator[Secret]:
    for assignment in body.assignments:
        value = assignment.value
        if value is not None and _NAMES.search(assignment.name) and _is_secret(value):
            yield _of_word(assignment.name, value, assignment.line, "assignment")


def _flagged(body: Body) -> Iterator[Secret]:
    for command in body.commands:
        words = command.words
        for at, word in enumerate(words[1:], start=1):
            match = _FLAGS.match(word.literal or "")
            if match is None:
                continue
            name = _variable(word.literal or "")
            if match["v"] is not None:
                value = match["v"]
                if value and _looks_secret(value) and word.text.endswith(value):
                    size = len(value.encode("utf-8", "surrogateescape"))
                    yield Secret(name, command.line, word.end - size, word.end, "word", value)
            elif at + 1 < len(words) and _is_secret(words[at + 1]):
                yield _of_word(name, words[at + 1], command.line, "word")


def _logins(body: Body) -> Iterator[Secret]:
    """`wandb login KEY`, `export KEY` by value."""
    for command in body.commands:
        literals = [word.literal for word in command.words]
        if command.name == "wandb" and literals[1:2] == ["login"]:
            for word in command.words[2:]:
                if word.literal and _HEX_KEY.fullmatch(word.literal):
                    yield _of_word("WANDB_API_KEY", word, command.line, "word")


def _tokens(text: str) -> Iterator[Secret]:
    for name, marks, form in _FORMS:
        if any(mark in text for mark in marks):
            for match in form.finditer(text):
                yield _of_match(name, text, match.span(), match[0])
    for match in _URL.finditer(text) if "://" in text and "@" in text else ():
        if not _PLACEHOLDER.fullmatch(match["password"]):
            yield _of_match("URL_PASSWORD", text, match.span("password"), match["password"])


def _commented(text: str, body: Body) -> Iterator[Secret]:
    """Assignments in comments: taken out of use, and still readable."""
    data = text.encode("utf-8", "surrogateescape")
    for line, start, end in body.comments:
        comment = data[start:end].decode("utf-8", "surrogateescape")
        for match in _COMMENTED.finditer(comment):
            value = match["value"]
            if _NAMES.search(match["name"]) and _looks_secret(value):
                offset = start + len(
                    comment[: match.start("value")].encode("utf-8", "surrogateescape")
                )
                size = len(value.encode("utf-8", "surrogateescape"))
                yield Secret(match["name"], line, offset, offset + size, "comment", value)


def _of_match(name: str, text: str, span: tuple[int, int], value: str) -> Secret:
    before = text[: span[0]]
    start = len(before.encode("utf-8", "surrogateescape"))
    size = len(value.encode("utf-8", "surrogateescape"))
    return Secret(name, before.count("\n") + 1, start, start + size, "text", value)


def _of_word(name: str, word: Word, line: int, how: str) -> Secret:
    value = word.literal or ""
    quotes = 1 if word.text[:1] in "'\"" and word.text[1:-1] == value else 0
    return Secret(name, line, word.start + quotes, word.end - quotes, how, value)


def _is_secret(word: Word) -> bool:
    return word.literal is not None and _looks_secret(word.literal)


def _looks_secret(value: str) -> bool:
    if len(value) < _SHORTEST or _PLACEHOLDER.fullmatch(value) or "\n" in value or " " in value:
        return False
    return not value.startswith(("/", "~", "./", "../", "$", "s3://", "http"))


def _variable(flag: str) -> str:
    return flag.partition("=")[0].lstrip("-").replace("-", "_").replace(".", "_").upper()
