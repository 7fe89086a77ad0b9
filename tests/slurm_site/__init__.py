"""A real Slurm site on one machine, for tests.

The site has up to two clusters, ``alpha`` and ``beta``.  Each host of it (login, controller,
compute nodes, database) is a daemon from an ordinary Debian package in mount and UTS namespaces
of its own.  So no user, file or service of the machine changes, and several sites can run side by
side.  All state lies in one folder.

    with SlurmSite.temporary() as site:
        site.run("alpha", "alice", ["sbatch", "--parsable", "job.sh"])
        subprocess.run(site.ssh("beta").argv("svc", "sinfo"))

``python -m tests.slurm_site --help`` shows the same for the command line; tests use the fixtures
of ``tests.fixtures_slurm``.
"""

from .access import SshAccess
from .hosts import SiteError
from .install import install, make_root, make_tree, missing
from .site import SlurmSite

__all__ = ["SiteError", "SlurmSite", "SshAccess", "install", "make_root", "make_tree", "missing"]
