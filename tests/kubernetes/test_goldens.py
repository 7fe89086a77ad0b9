"""Golden manifests are accepted by the real API server, under strict field validation."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.kubernetes.goldens import Rendered, all_rendered, send
from tests.kubernetes_site import KubernetesSite, Refused

pytestmark = pytest.mark.kubernetes


@pytest.fixture(scope="module")
def dry(kubernetes_site: KubernetesSite) -> Iterator[str]:
    yield kubernetes_site.namespace("golden-dry")
    kubernetes_site.api.delete("v1", "Namespace", "golden-dry")


@pytest.mark.parametrize("job", all_rendered(), ids=lambda job: job.id)
def test_manifests_are_accepted_with_strict_validation(
    kubernetes_site: KubernetesSite, dry: str, job: Rendered
):
    objects = job.objects(dry)
    assert objects
    for body in objects:
        answer = send(kubernetes_site.api, body, dry=True)
        assert answer["metadata"]["name"] == body["metadata"]["name"]


def test_strict_validation_is_on(kubernetes_site: KubernetesSite, dry: str):
    body = all_rendered()[0].objects(dry)[-1]
    body["spec"]["template"]["spec"]["contaners"] = []
    with pytest.raises(Refused, match="contaners"):
        send(kubernetes_site.api, body, dry=True)
