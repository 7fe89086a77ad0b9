"""Migrating sbatch scripts: what `triplane migrate` does, as plain calls.

Nothing is submitted, and nothing is executed. `migrate_script` is pure; `migrate` reads
files and, with `out`, writes the tasks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from compiler.diagnostics import Diagnostic, InvalidInput, WrongUsage
from compiler.diagnostics.codes.migration import NO_SCRIPTS
from compiler.migration.folders import discover, place, run, write
from compiler.migration.migrating import migrate as migrate_bytes
from compiler.migration.reading.command_line import CommandLine, read_command
from compiler.migration.result import Migration
from compiler.migration.settings import AT_SCRIPT, EXISTING, TARGETS, Settings
from compiler.model import Stack, TargetKind
from compiler.source.reading import shown_path
from compiler.source.wording import quoted

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Scripts:
    """What is to be migrated: `results` yields each result once, in the scripts' order."""

    count: int
    results: Iterator[Migration]


def migration_settings(
    *,
    target: str = "slurm",
    stack: Stack | None = None,
    version: str | None = None,
    submit_folder: str | None = None,
    keep: bool = False,
    shim: bool = False,
    smoke: bool = False,
    existing: str = "keep",
) -> Settings:
    """Settings with what a stack knows: the cluster's key, and the GPUs of its partitions.

    Raise WrongUsage for a target or a folder that cannot be meant.
    """
    if target not in TARGETS:
        raise WrongUsage(f"no target {target!r}; there are {', '.join(TARGETS)}")
    if existing not in EXISTING:
        raise WrongUsage(f"existing tasks: {', '.join(EXISTING)}, not {existing!r}")
    if submit_folder is not None and submit_folder != AT_SCRIPT:
        if not submit_folder.startswith("/"):
            raise WrongUsage(f"the submit folder has to be a whole path, not {submit_folder!r}")
        submit_folder = submit_folder.rstrip("/") or "/"
    clusters = _clusters(stack)
    only = clusters[0] if len(clusters) == 1 else None
    return Settings(
        target=target,
        cluster=only.key if only else None,
        version=version or (only.version if only else None),
        gpu_types=_gpu_types(stack, only.key if only else None),
        gres_style=str(only.options.get("gres", "typed")) if only else "typed",
        submit_folder=submit_folder,
        keep=keep,
        shim=shim,
        smoke=smoke,
        existing=existing,
    )


def migrate_script(data: bytes, path: str, settings: Settings | None = None) -> Migration:
    """The result for the bytes of one script; `path` is shown and names the task."""
    return migrate_bytes(data, path, settings or Settings())


def migrate(
    paths: Sequence[str],
    settings: Settings | None = None,
    *,
    out: str | None = None,
    workers: int = 1,
) -> Scripts:
    """All scripts at `paths` (files, and what has directives in folders).

    With `out` each task is written there as soon as it is made, one file a script. A file
    that cannot be read is a result as well and stops nothing. Raise InvalidInput where there is
    no script at all.
    """
    found = list(dict.fromkeys(discover(paths)))
    if not found:
        raise InvalidInput([_no_scripts(path) for path in paths])
    jobs = place(found, paths, out)
    return Scripts(len(jobs), run(jobs, settings or Settings(), workers))


def _no_scripts(folder: str) -> Diagnostic:
    return NO_SCRIPTS.at(
        None,
        f"no file in the folder {quoted(shown_path(folder))} has a directive of sbatch",
        hint="name a script itself to read it in any case; hidden files are skipped",
    )


def migrate_command(
    words: Sequence[str], settings: Settings | None = None, *, out: str | None = None
) -> Migration:
    """A command line (`sbatch -N4 job.sh a b`, salloc, srun): its options override directives."""
    settings = settings or Settings()
    line: CommandLine = read_command(words, settings.version)
    settings = replace(settings, command=line.options, arguments=line.arguments)
    if line.text is not None:
        settings = replace(settings, made=True)
        migration = migrate_bytes(line.text.encode(), line.name, settings)
        if out is not None and migration.yaml is not None:
            migration = write(
                migration, Path(out) / f"{migration.name}.yaml", out, settings.existing
            )
        return migration
    assert line.script is not None
    return next(run(place([line.script], [], out), settings, 1))


def _clusters(stack: Stack | None) -> list:
    if stack is None:
        return []
    return [spec for spec in stack.targets.values() if spec.kind is TargetKind.SLURM]


def _gpu_types(stack: Stack | None, cluster: str | None) -> Mapping[str, tuple[str, ...]]:
    """Accelerators by partition, turned round from the stack's `gpu_partition_map`."""
    if stack is None:
        return {}
    slurm = stack.config.get("slurm")
    slurm = slurm if isinstance(slurm, Mapping) else {}
    maps = [slurm.get("gpu_partition_map")]
    by_cluster = slurm.get("cluster_configs")
    if isinstance(by_cluster, Mapping) and isinstance(by_cluster.get(cluster), Mapping):
        maps.append(by_cluster[cluster].get("gpu_partition_map"))
    found: dict[str, list[str]] = {}
    for names in maps:
        if not isinstance(names, Mapping):
            continue
        for name, partitions in names.items():
            for partition in [partitions] if isinstance(partitions, str) else partitions:
                if name not in found.setdefault(str(partition), []):
                    found[str(partition)].append(str(name))
    return {partition: tuple(names) for partition, names in found.items()}
