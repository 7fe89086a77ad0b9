"""Containers that a script starts, where the whole task can run in them instead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from compiler.migration.shell.body import Command
from compiler.migration.shell.variables import Variables, variable

_VALUED = frozenset({"-B", "--bind", "--mount"})
_FLAGS = frozenset({"--nv", "--rocm", "--nvccli", "-s", "--silent", "-q", "--quiet"})
_RUNTIMES = frozenset({"singularity", "apptainer"})
_FILES = (".sif", ".simg", ".img", ".sqsh", ".sqfs")


@dataclass(frozen=True, slots=True)
class Container:
    """What starts in an image: `image` in the dialect's form, None where it is a file of the
    cluster's (`shown`). `start` to before `end` is the text that starts it; `mounts` as written.
    """

    image: str | None
    shown: str
    start: int
    end: int
    line: int
    mounts: tuple[str, ...] = ()


def image_id(image: str) -> str | None:
    """An image as `image_id` names it; None for a file, and for what the shell expands."""
    if "$" in image:
        return None
    if "://" in image:
        scheme, _, rest = image.partition("://")
        return f"docker:{rest.replace('#', '/')}" if scheme in ("docker", "dockerd") else None
    if image.startswith(("/", "./", "~", "$")) or image.endswith(_FILES):
        return None
    return f"docker:{image.replace('#', '/')}"


def of_step(
    options: Mapping[str, str | None], known: Variables
) -> tuple[str | None, str, tuple[str, ...]] | None:
    """(image, as written, mounts) of pyxis' options; None without an image."""
    image = (options.get("container-image") or "").strip('"')
    if not image:
        return None
    name = variable(image)
    image = known.literals.get(name, image) if name else image
    mounts = tuple(filter(None, (options.get("container-mounts") or "").split(",")))
    return image_id(image), image, mounts


def of_command(command: Command, at: int, known: Variables) -> Container | str | None:
    """The container that the words from `at` on start; None where they start none, and a text
    that says why it cannot be the task's."""
    words = command.words
    name = (words[at].literal or "").rpartition("/")[2]
    if name == "shifter":
        return _shifter(command, at)
    if name not in _RUNTIMES:
        return None
    if at + 1 >= len(words) or words[at + 1].literal != "exec":
        return f"`{name}` is started otherwise than with `exec`"
    position, mounts = at + 2, []
    while position < len(words) and words[position].text.startswith("-"):
        option, equals, value = words[position].text.partition("=")
        if option in _VALUED:
            if not equals:
                position += 1
                value = words[position].text if position < len(words) else ""
            mounts.append(value.strip('"'))
        elif option not in _FLAGS:
            return f"`{name} {option}` changes what the container sees"
        position += 1
    if position + 1 >= len(words):
        return f"what `{name}` starts is known only when it runs"
    image = known.value(words[position])
    if image is not None and image.lstrip().startswith("-"):
        return f"options of `{name}` stand in a variable"
    shown = image or words[position].text
    found = image_id(image) if image else None
    start, end = words[at].start, words[position + 1].start
    return Container(found, shown, start, end, command.line, tuple(mounts))


def _shifter(command: Command, at: int) -> Container | str:
    words = command.words
    position, image = at + 1, ""
    while position < len(words) and words[position].text.startswith("-"):
        option, _, value = words[position].text.partition("=")
        if option != "--image":
            return f"`shifter {option}` changes what the container sees"
        image = value
        position += 1
    if position >= len(words) or not image:
        return "the image of `shifter` is not named there"
    name = image.removeprefix("docker:")
    start, end = words[at].start, words[position].start
    return Container(image_id(name), name, start, end, command.line)
