"""The typed, frozen, target-independent model, and how it is built from documents."""

from compiler.model.origin import Origin
from compiler.model.resources import (
    Accelerator,
    Amount,
    Autostop,
    Choice,
    Image,
    Infra,
    JobRecovery,
    LocalDisk,
    Resources,
    ResourceSet,
)
from compiler.model.service import Pool, ReadinessProbe, ReplicaPolicy, Service
from compiler.model.stack import Deployer, SecretSource, Stack, TargetKind, TargetSpec
from compiler.model.storage import (
    FileMount,
    GitWorkdir,
    LocalWorkdir,
    Storage,
    Volume,
    VolumeMount,
)
from compiler.model.task import Group, Hook, Pipeline, Secret, Task

__all__ = [
    "Accelerator",
    "Amount",
    "Autostop",
    "Choice",
    "Deployer",
    "FileMount",
    "GitWorkdir",
    "Group",
    "Hook",
    "Image",
    "Infra",
    "JobRecovery",
    "LocalDisk",
    "LocalWorkdir",
    "Origin",
    "Pipeline",
    "Pool",
    "ReadinessProbe",
    "ReplicaPolicy",
    "ResourceSet",
    "Resources",
    "Secret",
    "SecretSource",
    "Service",
    "Stack",
    "Storage",
    "TargetKind",
    "TargetSpec",
    "Task",
    "Volume",
    "VolumeMount",
]
