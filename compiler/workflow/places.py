"""Paths as a plan holds them: the same wherever the checkout lies and whoever stands where.

They start at the *base*: the stack's `root`, else the folder in which the plan is made. The
plan records where the base lies as seen from the stack file.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from compiler.model import Stack
from compiler.rendering.filetree import FileTree


def base_of(stack: Stack) -> str:
    """The folder that the tasks' relative paths start from, absolute."""
    return stack.root or os.getcwd()  # noqa: PTH109


def stack_folder(stack: Stack) -> str:
    # Links are kept as they are written: abspath and not resolve.
    return os.path.dirname(os.path.abspath(stack.origin.document.source.path))  # noqa: PTH100,PTH120


def shown(path: str, stack: Stack) -> str:
    """A path relative to the base; what is no path of a file (`<stdin>`) stays as it is."""
    if is_special(path):
        return path
    absolute = os.path.abspath(path)  # noqa: PTH100
    base = base_of(stack)
    if Path(path).is_absolute() and not Path(absolute).is_relative_to(base):
        return path
    return _relative(absolute, base)


def located(location: str, stack: Stack) -> str:
    """The same for `file:line:column`."""
    path, colon, rest = location.partition(":")
    return shown(path, stack) + colon + rest


def is_special(path: str) -> bool:
    return path == "-" or path.startswith("<") or "://" in path


def base_argument(stack: Stack) -> str:
    """Where the base lies as seen from the stack file, as the plan records it."""
    return _relative(base_of(stack), stack_folder(stack))


def with_base(stack: Stack, recorded: str) -> Stack:
    """The stack with the base that a plan recorded as its root."""
    return replace(stack, root=os.path.normpath(os.path.join(stack_folder(stack), recorded)))  # noqa: PTH118


def portable(tree: FileTree, stack: Stack) -> FileTree:
    """A tree whose local path, if it lies below the base, is as seen from the stack file."""
    if tree.local is None or not Path(tree.local).is_relative_to(os.path.realpath(base_of(stack))):
        return tree
    return replace(tree, local=_relative(tree.local, os.path.realpath(stack_folder(stack))))


def here(tree: FileTree, stack: Stack) -> FileTree:
    """What `portable` made, with a path that can be opened."""
    if tree.local is None:
        return tree
    folder = os.path.realpath(stack_folder(stack))
    return replace(tree, local=os.path.normpath(os.path.join(folder, tree.local)))  # noqa: PTH118


def _relative(path: str, folder: str) -> str:
    return os.path.relpath(path, folder).replace(os.sep, "/")
