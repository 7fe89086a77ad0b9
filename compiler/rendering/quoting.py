"""Quoting a user's string for the place where it lands, so that it can never become structure.

Every function takes any string and returns text that the reader of that place turns back
into exactly that string; what the place cannot hold (a NUL byte, a lone surrogate, a line
break in a directive) raises ValueError.
"""

from __future__ import annotations

import re
from itertools import count

_SBATCH_PLAIN = re.compile(r"[A-Za-z0-9@%+=:,./_\[\]()|&*^-]+")
# Control characters, and those that reorder or hide the text around them.
_UNSEEN = re.compile("[\x01-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]+")
_TEXTS = (str, int, float)
_SHDQ_ESCAPES = str.maketrans({character: f"\\{character}" for character in '\\"$`'})
_YAML_AS_IT_IS = re.compile(r"[ !#-\[\]-~]*")
_YAML_ESCAPES = {'"': '\\"', "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}


def checked(value: object) -> str:
    """`value` as text that a file and a process environment can hold; ValueError if not.

    Numbers are written as Python writes them; anything else (None, a bool, a list) is refused
    rather than turned into a text that nobody asked for.
    """
    text = str(value)  # also raises for a name that the template was not given
    if not isinstance(value, _TEXTS) or isinstance(value, bool):
        raise ValueError(f"a {type(value).__name__} is no text")
    if "\0" in text:
        raise ValueError("a NUL character cannot be part of a script, a variable or a file name")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("the text holds half of a surrogate pair and has no UTF-8 form") from None
    return text


def sh(value: object) -> str:
    """One word of a POSIX shell, in single quotes; line breaks stay as they are.

    Characters that a reader of the script would not see, or that turn around what stands beside
    them, are written as numbers.
    """
    word = "'" + checked(value).replace("'", "'\\''") + "'"
    return word if word.isprintable() else _UNSEEN.sub(_as_numbers, word)


def _as_numbers(match: re.Match[str]) -> str:
    octal = "".join(f"\\{byte:03o}" for byte in match[0].encode())
    return f"'\"$(printf '{octal}')\"'"


def shdq(value: object) -> str:
    """Literal text between two double quotes of a shell that stand in the template."""
    return checked(value).translate(_SHDQ_ESCAPES)


def sbatch(value: object) -> str:
    """A value in a #SBATCH line, as sbatch splits it into words.

    Blanks separate, quotes group, a backslash takes the next character as it is, and a `#`
    outside quotes ends the line even within a word. A line break cannot be written.
    """
    text = checked(value)
    if "\n" in text or "\r" in text:
        raise ValueError("a line break cannot be part of an sbatch directive")
    if _SBATCH_PLAIN.fullmatch(text):
        return text
    return '"' + re.sub(r'(["\\])', r"\\\1", text) + '"'


def heredoc_delimiter(text: str) -> str:
    """A delimiter that is no line of `text`; the same for nearly all texts, so that a
    difference of two scripts shows what changed and nothing else."""
    lines = set(text.split("\n")) if "TRIPLANE_" in text else ()
    return next(delimiter for number in count() if (delimiter := f"TRIPLANE_{number}") not in lines)


def heredoc(value: object, target: str) -> str:
    """Bash commands that write exactly `value` to the file `target` (a quoted shell word).

    The body is a here-document with a quoted delimiter, in which nothing is expanded. It
    always ends with a line break, so a text that does not is cut back by that one byte. A
    carriage return is written as an escape instead: sbatch refuses a script that holds one
    before a line break, wherever that is.
    """
    text = checked(value)
    if "\r" in text:
        escaped = re.sub(r"([\\'])", r"\\\1", text).replace("\r", "\\r")
        return f"printf %s $'{escaped}' >{target}\n"
    delimiter = heredoc_delimiter(text)
    if text.endswith("\n") or not text:
        return f"cat >{target} <<'{delimiter}'\n{text}{delimiter}\n"
    return (
        f"IFS= read -r -d '' TRIPLANE_TEXT <<'{delimiter}'\n{text}\n{delimiter}\n"
        f'printf %s "${{TRIPLANE_TEXT%?}}" >{target}\n'
    )


def py(value: object) -> str:
    """A Python literal, in ASCII, of a string, number, bool, None, or lists and dicts of them."""
    if isinstance(value, str):
        return ascii(checked(value))
    if value is None or isinstance(value, bool | int | float):
        return repr(value)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(py(item) for item in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{py(key)}: {py(item)}" for key, item in value.items()) + "}"
    raise ValueError(f"no Python literal is made of a {type(value).__name__}")


def yaml_scalar(value: object) -> str:
    """A double-quoted YAML scalar: always a string, whatever YAML 1.1 or 1.2 makes of it."""
    text = checked(value)
    if not _YAML_AS_IT_IS.fullmatch(text):
        text = "".join(map(_yaml_character, text))
    return f'"{text}"'


def _yaml_character(character: str) -> str:
    if character in _YAML_ESCAPES:
        return _YAML_ESCAPES[character]
    if character.isprintable() and character != "\ufeff":
        return character
    code = ord(character)
    return (
        f"\\x{code:02x}"
        if code < 0x100
        else f"\\u{code:04x}"
        if code < 0x10000
        else f"\\U{code:08x}"
    )
