"""The typed, frozen, target-independent model, and how it is built from documents."""

from compiler.model.build_stack import build_stack
from compiler.model.build_task import build_task
from compiler.model.build_volume import build_volume
from compiler.model.builder import DeviceLookup
from compiler.model.config import local_queue, merge_config, merge_pod_config, scoped
from compiler.model.infra import parse_infra
from compiler.model.labels import label_problem
from compiler.model.named_volumes import (
    auto_mounted,
    check_named_volumes,
    mounted_volumes,
    volume_task,
)
from compiler.model.origin import Origin
from compiler.model.overrides import Overrides, apply_overrides
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
from compiler.model.several_tasks import build_group, build_pipeline
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
    "DeviceLookup",
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
    "Overrides",
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
    "apply_overrides",
    "auto_mounted",
    "build_group",
    "build_pipeline",
    "build_stack",
    "build_task",
    "build_volume",
    "check_named_volumes",
    "label_problem",
    "local_queue",
    "merge_config",
    "merge_pod_config",
    "mounted_volumes",
    "parse_infra",
    "scoped",
    "volume_task",
]
