"""The directory deployer: the rendered tree itself is what is deployed to.

It serves GitOps (Argo CD, Flux) and anybody who wants to plan and apply with no server.
"""

from compiler.targets.directory.deployer import DirectoryDeployer
from compiler.targets.directory.store import recorded_targets

__all__ = ["DirectoryDeployer", "recorded_targets"]
