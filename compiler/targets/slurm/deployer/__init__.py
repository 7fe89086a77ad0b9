"""The half of the Slurm target that touches the world."""

from compiler.targets.slurm.deployer.deployer import SlurmDeployer
from compiler.targets.slurm.deployer.patch import pending_fields
from compiler.targets.slurm.deployer.refusals import Refusal, explain_refusal

__all__ = ["Refusal", "SlurmDeployer", "explain_refusal", "pending_fields"]
