"""The digests of everything that a plan was made from."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping

from compiler.model import Stack
from compiler.workflow import places
from compiler.workflow.prepare import Prepared


def input_digests(
    files: Mapping[str, str], prepared: Iterable[Prepared], stack: Stack
) -> dict[str, str]:
    """Digest by label, sorted: YAML files, the stack, and file trees (with a slash behind).

    Labels are relative to the stack's folder, so that a plan made on one machine can be
    applied on another.
    """
    digests = {label(path, stack): digest for path, digest in files.items()}
    for item in prepared:
        for tree in item.trees:
            place = tree.git_url if tree.local is None else label(tree.local, stack)
            digests[f"{place}/"] = tree.digest
    source = stack.origin.document.source
    digests[label(source.path, stack)] = hashlib.sha256(source.text.encode()).hexdigest()
    return dict(sorted(digests.items()))


def label(path: str, stack: Stack) -> str:
    if places.is_special(path):
        return path
    folder = places.stack_folder(stack)
    return os.path.relpath(os.path.abspath(path), folder).replace(os.sep, "/")  # noqa: PTH100
