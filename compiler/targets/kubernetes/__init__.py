"""Kubernetes: one task is one Indexed Job, its peers known by a headless Service.

`TARGET` is what the workflow calls; `merge_keys` gives the keys of lists, for differences.
"""

from compiler.targets.kubernetes.metadata import Names, names_of, secrets_name
from compiler.targets.kubernetes.schema import list_map_keys, merge_keys
from compiler.targets.kubernetes.target import TARGET, KubernetesTarget

__all__ = [
    "TARGET",
    "KubernetesTarget",
    "Names",
    "list_map_keys",
    "merge_keys",
    "names_of",
    "secrets_name",
]
