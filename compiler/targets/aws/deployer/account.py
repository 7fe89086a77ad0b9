"""AWS as the target's settings reach it: clients, and its errors in our own words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from compiler.diagnostics import TargetUnreachable, WorkFailed
from compiler.targets.aws.options import AwsOptions

# Who we are is not accepted: nothing of the target can be known.
_NOT_LET_IN = frozenset(
    (
        "AuthFailure",
        "ExpiredToken",
        "ExpiredTokenException",
        "InvalidAccessKeyId",
        "InvalidClientTokenId",
        "RequestExpired",
        "SignatureDoesNotMatch",
        "UnrecognizedClientException",
    )
)


class Account:
    """Clients are made when first wanted, and shared: boto3's are safe for several threads."""

    def __init__(self, target: str, options: AwsOptions) -> None:
        self.target = target
        self.options = options
        self._clients: dict[str, Any] = {}

    @cached_property
    def _session(self) -> Any:
        import boto3

        return boto3.Session(profile_name=self.options.profile, region_name=self.options.region)

    def client(self, service: str) -> Any:
        if service not in self._clients:
            from botocore.config import Config

            with self.failing():
                self._clients[service] = self._session.client(
                    service,
                    config=Config(
                        connect_timeout=10,
                        read_timeout=60,
                        retries={"mode": "standard", "max_attempts": 4},
                    ),
                )
        return self._clients[service]

    def close(self) -> None:
        for client in self._clients.values():
            client.close()
        self._clients.clear()

    def identity(self) -> tuple[str, str]:
        """(account, ARN of the caller). Raise TargetUnreachable for another account than the
        stack says."""
        with self.failing():
            answer = self.client("sts").get_caller_identity()
        account, wanted = answer["Account"], self.options.account
        if wanted is not None and account != wanted:
            raise TargetUnreachable(
                self.target, f"the credentials are of account {account}, the stack says {wanted}"
            )
        return account, answer["Arn"]

    @contextmanager
    def failing(self) -> Iterator[None]:
        """Translates: not reached or not let in is TargetUnreachable, a refusal WorkFailed."""
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            yield
        except ClientError as error:
            code, words = error_of(error)
            said = f"{error.operation_name}: {words or code} ({code})"
            if code in _NOT_LET_IN or code == "NoSuchBucket":
                raise TargetUnreachable(self.target, said) from None
            raise WorkFailed(f"{self.target}: {said}") from None
        except BotoCoreError as error:
            raise TargetUnreachable(self.target, str(error)) from None


def error_of(error: Any) -> tuple[str, str]:
    """(code, message) of a ClientError."""
    body = error.response.get("Error", {})
    return str(body.get("Code", "")), str(body.get("Message", ""))
