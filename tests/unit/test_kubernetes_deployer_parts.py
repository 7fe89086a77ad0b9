"""Parts of the Kubernetes deployer that need no server."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
import yaml

from compiler.diagnostics import TargetUnreachable
from compiler.targets.kubernetes.deployer import kubeconfig, owned
from compiler.targets.kubernetes.deployer.client import Client, encoded
from compiler.targets.kubernetes.deployer.foreign import strange_answer
from compiler.targets.kubernetes.deployer.refusals import ApiRefused

LIVE = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {
        "name": "a",
        "namespace": "ml",
        "uid": "u",
        "labels": {"ours": "1", "theirs": "2", owned.PART_OF: "applyset-x-v1"},
        "managedFields": [
            {
                "manager": "triplane",
                "operation": "Apply",
                "fieldsV1": {
                    "f:metadata": {
                        "f:labels": {"f:ours": {}, f"f:{owned.PART_OF}": {}},
                    },
                    "f:spec": {
                        "f:completions": {},
                        "f:template": {
                            "f:spec": {
                                "f:containers": {
                                    'k:{"name":"task"}': {".": {}, "f:name": {}, "f:image": {}}
                                },
                                "f:tolerations": {},
                            }
                        },
                    },
                },
            },
            {"manager": "kubectl", "operation": "Update", "fieldsV1": {"f:spec": {}}},
        ],
    },
    "spec": {
        "completions": 2,
        "suspend": False,
        "template": {
            "spec": {
                "containers": [
                    {"name": "side", "image": "s"},
                    {"name": "task", "image": "t", "imagePullPolicy": "Always"},
                ],
                "tolerations": [{"key": "k"}],
            }
        },
    },
    "status": {"active": 1},
}


def test_only_what_we_applied_is_ours():
    assert yaml.safe_load(owned.canonical(LIVE)) == {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "a", "namespace": "ml", "labels": {"ours": "1"}},
        "spec": {
            "completions": 2,
            "template": {
                "spec": {
                    "containers": [{"name": "task", "image": "t"}],
                    "tolerations": [{"key": "k"}],
                }
            },
        },
    }


def test_what_kueue_sets_on_a_queued_job_is_not_ours():
    queued = json.loads(json.dumps(LIVE))
    queued["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] = "team"
    pod = yaml.safe_load(owned.canonical(queued))["spec"]["template"]["spec"]
    assert "tolerations" not in pod
    assert pod["containers"] == [{"name": "task", "image": "t"}]


@pytest.mark.parametrize(
    "text", ["a😀b", "\\ud83d\\ude00", "\\\\😀", "\x7f\x85\u2028\ufeff", 'q" \n\t', "naïve 模型"]
)
def test_what_is_sent_is_json_and_yaml(text: str):
    sent = encoded({"k": text})
    assert json.loads(sent) == {"k": text}
    assert yaml.safe_load(sent.decode()) == {"k": text}


def _refused(status: int, message: str, method: str = "PATCH", **body: object) -> ApiRefused:
    path = "/apis/batch/v1/namespaces/ml/jobs/lab-train-1"
    data = json.dumps({"message": message, **body}).encode()
    return ApiRefused.of("prod", method, path, status, data)


def test_a_missing_role_names_verb_and_resource():
    words = 'jobs.batch "x" is forbidden: User "bob" cannot patch resource "jobs"'
    error = _refused(403, words)
    assert error.is_forbidden
    assert str(error).startswith("prod: may not patch jobs.batch lab-train-1 in namespace ml: ")
    assert [item.code for item in error.diagnostics] == ["kubernetes-forbidden"]


def test_a_conflict_names_the_owner_of_each_field():
    cause = {
        "reason": "FieldManagerConflict",
        "message": 'conflict with "kubectl-edit" using batch/v1',
        "field": ".spec.parallelism",
    }
    error = _refused(409, "Apply failed with 1 conflict", details={"causes": [cause]})
    assert "kubectl-edit" in str(error) and ".spec.parallelism" in str(error)
    assert [item.code for item in error.diagnostics] == ["kubernetes-conflict"]


@pytest.mark.parametrize(
    ("status", "words", "code"),
    [
        (403, "exceeded quota: few, requested: 1", "kubernetes-quota-refused"),
        (400, 'admission webhook "w" denied the request: no', "kubernetes-admission-denied"),
        (422, "Job is invalid: spec: Invalid value", "kubernetes-object-invalid"),
        (500, "failed to create typed patch object (/a)", "kubernetes-object-invalid"),
    ],
)
def test_rules_are_told_apart(status: int, words: str, code: str):
    assert [item.code for item in _refused(status, words).diagnostics] == [code]


def _write(path: Path, name: str, user: dict, **more: object) -> Path:
    body = {
        "current-context": name,
        "clusters": [{"name": name, "cluster": {"server": "https://h:1", **more}}],
        "users": [{"name": name, "user": user}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
    }
    path.write_text(json.dumps(body))
    return path


def test_several_kubeconfigs_are_one_and_their_files_are_relative_to_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "b").mkdir()
    first = _write(tmp_path / "one", "a", {"token": "t"})
    other = _write(tmp_path / "b" / "two", "c", {"client-key": "k.pem"})
    monkeypatch.setenv("KUBECONFIG", f"{first}:{tmp_path}/none:{other}")
    found = kubeconfig.access("prod", "c", named=True)
    assert found.user["client-key"] == str(tmp_path / "b" / "k.pem")
    assert kubeconfig.access("prod", "a", named=True).user == {"token": "t"}
    with pytest.raises(TargetUnreachable, match=r"no context 'x' \(known: a, c\)"):
        kubeconfig.access("prod", "x", named=True)


def test_a_plugin_gives_the_token_and_is_told_who_asks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    plugin = tmp_path / "plugin"
    plugin.write_text(
        "#!/bin/sh\n"
        "case $KUBERNETES_EXEC_INFO in *ExecCredential*) ;; *) exit 1;; esac\n"
        'echo "{\\"kind\\": \\"ExecCredential\\", \\"status\\": {\\"token\\": \\"$ROLE-$1\\"}}"\n'
    )
    plugin.chmod(0o755)
    user = {
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1",
            "command": str(plugin),
            "args": ["x"],
            "env": [{"name": "ROLE", "value": "dev"}],
        }
    }
    assert kubeconfig.credentials("prod", user)["token"] == "dev-x"


def test_a_plugin_that_fails_gives_its_last_words(tmp_path: Path):
    plugin = tmp_path / "plugin"
    plugin.write_text("#!/bin/sh\necho 'the session has expired' >&2\nexit 1\n")
    plugin.chmod(0o755)
    with pytest.raises(TargetUnreachable, match="the session has expired"):
        kubeconfig.credentials("prod", {"exec": {"command": str(plugin)}})
    with pytest.raises(TargetUnreachable, match="is not installed: see docs"):
        gone = {"exec": {"command": "no-such-plugin", "installHint": "see docs"}}
        kubeconfig.credentials("prod", gone)


def test_a_pod_uses_its_service_account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "token").write_text("t\n")
    (tmp_path / "namespace").write_text("ml")
    monkeypatch.setattr(kubeconfig, "SERVICE_ACCOUNT", tmp_path)
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "fd00::1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    found = kubeconfig.access("prod", "prod", named=False)
    assert found.cluster["server"] == "https://[fd00::1]:443"
    assert (found.namespace, found.user["tokenFile"]) == ("ml", str(tmp_path / "token"))


@pytest.mark.parametrize(
    ("status", "kind", "body", "strange"),
    [
        (200, "application/json", b"{}", None),
        (404, "application/json", b'{"kind": "Status", "code": 404}', None),
        (404, "text/plain; charset=utf-8", b"404 page not found", None),
        (503, "text/plain", b"starting", None),
        (404, "application/json", b'{"detail": "Not Found"}', "status 404 without a Status"),
        (400, "application/json", b"[1]", "status 400 without a Status"),
        (500, "application/json", b"{", "status 500 with broken JSON"),
        (200, "text/html; charset=utf-8", b"<html>", "status 200 with a web page"),
        (502, "text/html", b"<html>", "status 502 with a web page"),
    ],
)
def test_what_an_api_server_never_answers(status, kind, body, strange):
    assert strange_answer(status, kind, body) == strange


@pytest.mark.parametrize(
    ("status", "kind", "body"),
    [
        (404, "text/html", b"<html>"),
        (404, "application/json", b'{"detail": "Not Found"}'),
        (200, "application/json", b'{"hello": 1}'),
        (200, "text/plain", b"hello"),
    ],
)
def test_another_server_at_the_address_is_no_target_that_can_be_reached(
    status, kind, body, tmp_path, monkeypatch
):
    class Other(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format, *arguments):
            pass

    with HTTPServer(("127.0.0.1", 0), Other) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        config = {
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": {"server": address}}],
            "users": [{"name": "u", "user": {}}],
        }
        (tmp_path / "config").write_text(yaml.safe_dump(config))
        monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))
        client = Client("lab", "x", named=True)
        with pytest.raises(TargetUnreachable, match="not as a Kubernetes API server does") as said:
            client.items("/api/v1/namespaces/default/configmaps")
        server.shutdown()
    assert said.value.exit_code == 3
    assert address in said.value.reason
