"""`aws`: a fresh account with the real Pulumi engine; `lab`: a set on it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.aws import site
from tests.needs import give_up


@pytest.fixture(scope="session")
def aws_api() -> Iterator[str]:
    if reasons := site.missing():
        give_up(f"no AWS: {'; '.join(reasons)}")
    with site.api() as endpoint:
        yield endpoint


@pytest.fixture
def aws(aws_api: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> site.AwsSite:
    account = site.AwsSite(tmp_path / "aws", aws_api)
    for name, value in account.variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("CI", raising=False)
    account.make_bucket()
    return account


@pytest.fixture
def lab(aws: site.AwsSite, tmp_path: Path) -> site.Set:
    return site.Set(tmp_path / "lab")
