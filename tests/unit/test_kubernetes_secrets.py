"""Secrets: references to objects of the cluster, never a value in anything rendered."""

from kubernetes_jobs import STACK, container_of, findings, make_job, pod_of, rendered

from compiler.diagnostics import Diagnostics
from compiler.targets.kubernetes import TARGET, secrets_name

VALUE = "hunter2-very-secret"
SOURCES = (
    "secrets: {HF_TOKEN: {prod: {secret: hf/token}}, DB: {prod: {external_secret: vault/ml/db}}}\n"
)


def references(objects):
    return {
        item["name"]: item["valueFrom"]["secretKeyRef"]
        for item in container_of(objects)["env"]
        if "secretKeyRef" in item.get("valueFrom", {})
    }


def test_each_secret_is_a_reference():
    objects = rendered("run: x\nsecrets: {HF_TOKEN: null, DB: null, OWN: null}\n", STACK + SOURCES)
    assert references(objects) == {
        "HF_TOKEN": {"name": "hf", "key": "token"},
        "DB": {"name": "demo-train-1-vault", "key": "DB"},
        "OWN": {"name": "demo-train-secrets", "key": "OWN"},
    }


def test_the_handed_over_secret_outlives_runs():
    names = {secrets_name(make_job("run: x\n", run=run)) for run in (1, 2, 30)}
    assert names == {"demo-train-secrets"}


def test_a_literal_value_is_nowhere():
    job = make_job(f"run: x\nenvs: {{TOKEN: visible}}\nsecrets: {{TOKEN: {VALUE}}}\n")
    artifacts = TARGET.render(job, Diagnostics())
    assert artifacts
    for artifact in artifacts:
        assert VALUE not in artifact.text
        # the secret wins over the variable of the same name
        assert "visible" not in artifact.text


def test_an_external_secret_is_made_for_each_store():
    objects = rendered("run: x\nsecrets: {DB: null}\n", STACK + SOURCES)
    body = objects["external-secret-vault.yaml"]
    assert body["spec"] == {
        "secretStoreRef": {"kind": "ClusterSecretStore", "name": "vault"},
        "target": {"name": "demo-train-1-vault"},
        "data": [{"secretKey": "DB", "remoteRef": {"key": "ml/db"}}],
    }


def test_secrets_as_files():
    task = (
        "run: x\nmanaged_secrets:\n"
        "- CERT: {mount_path: /etc/cert}\n"
        "- KEY: {mount_path: ~/.ssh/key}\n"
    )
    objects = rendered(task)
    assert references(objects) == {}
    volumes = {item["name"]: item for item in pod_of(objects)["volumes"]}
    assert volumes["triplane-secret-0"]["secret"] == {
        "secretName": "demo-train-secrets",
        "items": [{"key": "CERT", "path": "CERT"}],
    }
    mounts = {item["name"]: item for item in container_of(objects)["volumeMounts"]}
    assert mounts["triplane-secret-0"] == {
        "name": "triplane-secret-0",
        "mountPath": "/etc/cert",
        "subPath": "CERT",
        "readOnly": True,
    }
    assert mounts["triplane-secret-1"]["mountPath"] == "/triplane/secrets/KEY"
    platform = objects["scripts.yaml"]["data"]["platform.sh"]
    assert "k8s_copy_secret '/triplane/secrets/KEY' \"$HOME\"/'.ssh/key' ||" in platform


def test_findings_never_show_a_value():
    task = (
        f"run: x\nsecrets: {{TOKEN: {VALUE}}}\nresources: {{cpus: 4+, labels: {{job-name: a}}}}\n"
    )
    found = findings(task)
    assert found
    assert VALUE not in str(found)
