"""From the paths on a command line to the documents of all files."""

from __future__ import annotations

import os
import pathlib
import stat
from collections.abc import Iterable

from compiler.diagnostics import Diagnostics
from compiler.diagnostics.codes import source as codes
from compiler.source.document import Document
from compiler.source.kinds import Unit, detect, is_ours
from compiler.source.reading import (
    file_not_found,
    file_unreadable,
    read_file,
    read_stdin,
    shown_path,
)
from compiler.source.wording import quoted

STDIN = "-"
_EXTENSIONS = (".yaml", ".yml")
_WRITTEN = ".triplane"  # a folder that triplane writes to holds one


def discover(paths: Iterable[str | os.PathLike[str]], diagnostics: Diagnostics) -> list[str]:
    """The files that the paths mean, each once, in a stable order.

    A file is taken as given, whatever its name; a folder stands for the *.yaml and *.yml files
    below it, sorted, without hidden ones and without what an apply wrote there; `-` is standard
    input. What is not there or holds nothing is reported.
    """
    found: dict[str, str] = {}  # what a path leads to -> the path
    for given in paths:
        path = os.fspath(given)
        if path == STDIN:
            found.setdefault(STDIN, STDIN)
            continue
        place = pathlib.Path(path)
        if not path:  # an unset variable of a shell, and no name for the current folder
            diagnostics.add(file_not_found(path))
            continue
        try:
            place.stat()
        except FileNotFoundError:
            diagnostics.add(file_not_found(shown_path(path)))
            continue
        except (OSError, ValueError) as error:
            diagnostics.add(file_unreadable(shown_path(path), error))
            continue
        if not place.is_dir():
            found.setdefault(os.path.realpath(path), path)
            continue
        files = _files_below(place, diagnostics)
        if not files:
            diagnostics.add(
                codes.NO_INPUT_FILES.at(
                    None,
                    f"the folder {quoted(shown_path(path))} holds no *.yaml or *.yml file",
                    hint="name the folder that holds the files; hidden ones are skipped",
                )
            )
        for file, real in files:
            found.setdefault(real, file)
    return list(found.values())


def read_paths(
    paths: Iterable[str | os.PathLike[str]], diagnostics: Diagnostics
) -> list[list[Document]]:
    """The documents of every file that the paths mean: one list a file, in order.

    A file that cannot be read is reported and gives an empty list; it never stops the others.
    """
    return [
        read_stdin(diagnostics) if path == STDIN else read_file(path, diagnostics)
        for path in discover(paths, diagnostics)
    ]


def read_units(paths: Iterable[str | os.PathLike[str]], diagnostics: Diagnostics) -> list[Unit]:
    """What every file that the paths mean is, in order; files without a document are left out.

    So is, with a note, a file found in a folder that has no field of ours: settings and
    manifests of others lie beside tasks. A file named by itself is always taken at its word.
    """
    paths = list(paths)
    named = {os.fspath(path) for path in paths}
    units = []
    for file in discover(paths, diagnostics):
        documents = read_stdin(diagnostics) if file == STDIN else read_file(file, diagnostics)
        if documents and file not in named and not any(map(is_ours, documents)):
            diagnostics.add(
                codes.NOT_OURS.at(
                    documents[0].key_span(()),
                    f"{quoted(shown_path(file))} has no field of a task, volume, group or stack: "
                    "left out",
                    hint="name the file by itself if it is meant to be one",
                )
            )
            continue
        unit = detect(documents, diagnostics)
        if unit.documents:
            units.append(unit)
    return units


def _files_below(folder: pathlib.Path, diagnostics: Diagnostics) -> list[tuple[str, str]]:
    """(path, where it leads to) of the files, in the order of their paths' parts."""
    files: list[tuple[str, str]] = []
    pending = [folder]
    while pending:
        here = pending.pop()
        try:
            with os.scandir(here) as entries:
                everything = list(entries)
        except OSError as error:
            diagnostics.add(file_unreadable(shown_path(here), error))
            continue
        if here != folder and any(entry.name == _WRITTEN for entry in everything):
            continue
        visible = [entry for entry in everything if not entry.name.startswith(".")]
        folders = (entry.name for entry in visible if entry.is_dir(follow_symlinks=False))
        pending += (here / name for name in sorted(folders, reverse=True))
        shown, real = str(here / "-")[:-1], os.path.realpath(here)
        for entry in visible:
            if not entry.name.endswith(_EXTENSIONS):
                continue
            if entry.is_file(follow_symlinks=False):
                files.append((shown + entry.name, f"{real}{os.sep}{entry.name}"))
            elif entry.is_symlink():
                try:
                    is_file = stat.S_ISREG(entry.stat().st_mode)
                except OSError as error:  # a link to nowhere must not look like no file at all
                    diagnostics.add(file_unreadable(shown_path(here / entry.name), error))
                    continue
                if is_file:
                    files.append((shown + entry.name, os.path.realpath(entry)))
    return sorted(files, key=lambda file: file[0].split("/"))
