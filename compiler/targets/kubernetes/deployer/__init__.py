"""Kubernetes by server-side apply: `KubernetesDeployer` is what the workflow calls."""

from compiler.targets.kubernetes.deployer.deployer import KubernetesDeployer

__all__ = ["KubernetesDeployer"]
