"""The files that a task brings along, as the data of a ConfigMap."""

from __future__ import annotations

import base64

from compiler.diagnostics import Diagnostic, Diagnostics
from compiler.diagnostics.codes import kubernetes as codes
from compiler.targets.interface import Job
from compiler.targets.kubernetes.archive import ARCHIVE_LIMIT, TooLarge, archive
from compiler.targets.kubernetes.scripts import archive_key


def packed_files(job: Job, diagnostics: Diagnostics) -> dict[str, str]:
    """base64 of the archive of each local tree, by key; empty where there are none."""
    packed: dict[str, str] = {}
    total = 0
    try:
        for index, tree in enumerate(item for item in job.trees if item.local is not None):
            content = archive(tree)
            total += len(content)
            if total > ARCHIVE_LIMIT:
                raise TooLarge(total, compressed=True)
            packed[archive_key(index)] = base64.b64encode(content).decode()
    except TooLarge as error:
        diagnostics.add(_too_large(job, error))
    except OSError as error:
        diagnostics.add(
            codes.FILES_UNREADABLE.at(
                job.task.origin.span("workdir"),
                f"cannot read {error.filename or 'a file'}: {error.strerror or error}",
                target=job.target.key,
            )
        )
    return packed


def _too_large(job: Job, error: TooLarge) -> Diagnostic:
    key = "workdir" if job.task.workdir is not None else "file_mounts"
    size = f"{error.size // 1024} KiB" + " compressed" * error.compressed
    return codes.FILES_TOO_LARGE.at(
        job.task.origin.span(key),
        f"the files of the task are {size}, a ConfigMap holds {ARCHIVE_LIMIT // 1024} KiB",
        found=size,
        expected=f"at most {ARCHIVE_LIMIT // 1024} KiB compressed",
        hint="leave files out with `.skyignore`, or use `workdir: {url: ..., ref: ...}`",
        target=job.target.key,
    )
