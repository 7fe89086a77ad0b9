"""Where the values of secrets come from in a pod: always a reference, never a value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from compiler.diagnostics import Diagnostics
from compiler.diagnostics.codes import kubernetes as codes
from compiler.model import names
from compiler.targets.interface import Job

SECRET_FOLDER = "/triplane/secrets"
_STORE_KIND = "ClusterSecretStore"
_STORE_API = "external-secrets.io/v1"


@dataclass(frozen=True, slots=True)
class SecretUse:
    """A secret of the task: `key` of the Secret `object_name`; `mount_path` None: a variable."""

    name: str
    object_name: str
    key: str
    mount_path: str | None

    @property
    def reference(self) -> dict[str, object]:
        """An entry of a container's `env`."""
        selector = {"name": self.object_name, "key": self.key}
        return {"name": self.name, "valueFrom": {"secretKeyRef": selector}}

    @property
    def is_in_home(self) -> bool:
        return self.mount_path is not None and self.mount_path.startswith("~")

    @property
    def file(self) -> str:
        """Where the value is mounted if the place asked for is below an unknown home."""
        return f"{SECRET_FOLDER}/{self.name}"


@dataclass(frozen=True, slots=True)
class ExternalSecret:
    """A Secret that the External Secrets operator makes: key in it -> key in the store."""

    name: str
    store: str
    data: tuple[tuple[str, str], ...]

    @property
    def spec(self) -> dict[str, object]:
        return {
            "secretStoreRef": {"name": self.store, "kind": _STORE_KIND},
            "target": {"name": self.name},
            "data": [{"secretKey": name, "remoteRef": {"key": key}} for name, key in self.data],
        }


def secret_uses(job: Job, handed_over: str, diagnostics: Diagnostics) -> list[SecretUse]:
    """Every secret of the task, in the task's order.

    `handed_over` is the Secret that holds what the stack names no place for.
    """
    uses = []
    for name, secret in job.task.secrets.items():
        source = job.stack.secrets.get(name, {}).get(job.target.key)
        if source is None:
            place = handed_over, name
        elif source.kind == "secret":
            object_name, _, key = source.reference.partition("/")
            place = object_name, key
        elif source.kind == "external_secret":
            place = _external_name(job, source.reference.partition("/")[0]), name
        else:
            diagnostics.add(
                codes.SECRET_SOURCE.at(
                    job.stack.origin.span("secrets", name, job.target.key),
                    f"`{name}` comes from `{source.kind}`, which a pod on `{job.target.key}` "
                    "cannot read",
                    found=source.kind,
                    expected="secret, external_secret",
                    target=job.target.key,
                )
            )
            continue
        uses.append(SecretUse(name, *place, secret.mount_path))
    return uses


def external_secrets(job: Job) -> Iterator[ExternalSecret]:
    """One object for each store that the task's secrets come from."""
    stores: dict[str, list[tuple[str, str]]] = {}
    for name in job.task.secrets:
        source = job.stack.secrets.get(name, {}).get(job.target.key)
        if source is not None and source.kind == "external_secret":
            store, _, key = source.reference.partition("/")
            stores.setdefault(store, []).append((name, key))
    for store, data in sorted(stores.items()):
        yield ExternalSecret(_external_name(job, store), store, tuple(data))


def _external_name(job: Job, store: str) -> str:
    return f"{job.whole_name}-{names.dns_label(store)}"
