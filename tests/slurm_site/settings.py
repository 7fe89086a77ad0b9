"""What a site is made from, saved in its state folder so that any process can use the site."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from .hosts import Context, SiteError
from .model import CLUSTERS, Cluster, Ports

_FILE = "site.json"


@dataclass(frozen=True)
class Settings:
    """See ``SlurmSite``; ``base_port`` is None until the site has its ports."""

    state: Path
    base_port: int | None
    clusters: tuple[str, ...]
    accounting: bool
    private_tmp: bool
    root: Path | None

    def __post_init__(self) -> None:
        unknown = [name for name in self.clusters if name not in CLUSTERS]
        if unknown or not self.clusters:
            known = ", ".join(CLUSTERS)
            raise SiteError(f"the clusters must be some of {known}, not {', '.join(unknown)}")

    @property
    def context(self) -> Context:
        """How to get onto the site's hosts."""
        return Context(self.state, self.root, self.private_tmp)

    @property
    def ports(self) -> Ports:
        """The site's addresses."""
        if self.base_port is None:
            raise SiteError("the site is not up")
        return Ports(self.base_port)

    def specs(self) -> Iterator[tuple[int, Cluster, Path]]:
        """The clusters: index, description, folder."""
        for index, name in enumerate(self.clusters):
            yield index, CLUSTERS[name], self.state / name

    def conf(self, cluster: str) -> Path:
        """The folder that the cluster's hosts have as /etc/slurm."""
        return self.state / cluster / "etc"

    def save(self) -> None:
        values = asdict(self) | {"root": str(self.root) if self.root else None}
        del values["state"]
        (self.state / _FILE).write_text(json.dumps(values, indent=2) + "\n")

    @classmethod
    def saved(cls, state: Path) -> Settings | None:
        """The settings of the site in *state*, None if there is no site."""
        with contextlib.suppress(FileNotFoundError):
            values = json.loads((state / _FILE).read_text())
            values["clusters"] = tuple(values["clusters"])
            values["root"] = Path(values["root"]) if values["root"] else None
            return cls(state, **values)
        return None
