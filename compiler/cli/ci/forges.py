"""One comment for each stack on a pull or merge request, written again with every plan."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from compiler.diagnostics import WorkFailed

_PAGE = 100


@dataclass(frozen=True, slots=True)
class Forge:
    """Where comments go: `comments` is the address of the request's own, `headers` who asks.

    `body_key` and `id_key` are the names that the forge's API has for a comment's text and
    number, `update` its verb for changing one.
    """

    comments: str
    update_at: str
    headers: Mapping[str, str]
    update: str

    def say(self, marker: str, text: str) -> str:
        """Create or update the comment that begins with the marker; `created` or `updated`.

        Raise WorkFailed with the forge's own words where it refuses.
        """
        body = f"{marker}\n{text}"
        for comment in self._existing():
            if str(comment.get("body", "")).startswith(marker):
                self._ask(self.update, f"{self.update_at}/{comment['id']}", {"body": body})
                return "updated"
        self._ask("POST", self.comments, {"body": body})
        return "created"

    def _existing(self) -> Iterator[dict[str, Any]]:
        page = 1
        while True:
            found = self._ask("GET", f"{self.comments}?per_page={_PAGE}&page={page}")
            yield from found
            if len(found) < _PAGE:
                return
            page += 1

    def _ask(self, verb: str, address: str, body: Mapping[str, str] | None = None) -> Any:
        return ask(verb, address, self.headers, body)


def ask(
    verb: str, address: str, headers: Mapping[str, str], body: Mapping[str, str] | None = None
) -> Any:
    """The forge's answer as JSON; WorkFailed where it is none or a refusal."""
    import urllib3

    try:
        answer = urllib3.request(
            verb,
            address,
            headers={**headers, "User-Agent": "triplane"},
            json=body,
            timeout=30,
            retries=urllib3.Retry(3, backoff_factor=0.5, status_forcelist=(502, 503)),
        )
    except urllib3.exceptions.HTTPError as error:
        raise WorkFailed(f"{verb} {address}: {type(error).__name__}") from None
    if not 200 <= answer.status < 300:
        raise WorkFailed(f"{verb} {address}: {answer.status} {answer.data[:200].decode()}")
    return json.loads(answer.data) if answer.data else None


def marker_of(stack: str) -> str:
    """What tells the comments of several stacks apart; no reader sees it."""
    return f"<!-- triplane {quote(stack)} -->"


def github(environ: Mapping[str, str] = os.environ) -> Forge:
    """The pull request of a GitHub job, from its environment and `TRIPLANE_TOKEN`.

    `TRIPLANE_REQUEST` is its number.
    """
    at = f"{_needed(environ, 'GITHUB_API_URL')}/repos/{_needed(environ, 'GITHUB_REPOSITORY')}"
    return Forge(
        comments=f"{at}/issues/{int(_needed(environ, 'TRIPLANE_REQUEST'))}/comments",
        update_at=f"{at}/issues/comments",
        headers={
            "Authorization": f"Bearer {_needed(environ, 'TRIPLANE_TOKEN')}",
            "Accept": "application/vnd.github+json",
        },
        update="PATCH",
    )


def gitlab(environ: Mapping[str, str] = os.environ) -> Forge:
    """The merge request of a GitLab job, from its predefined variables and `TRIPLANE_TOKEN`."""
    project = quote(_needed(environ, "CI_PROJECT_ID"), safe="")
    number = int(_needed(environ, "CI_MERGE_REQUEST_IID"))
    at = f"{_needed(environ, 'CI_API_V4_URL')}/projects/{project}/merge_requests/{number}/notes"
    return Forge(
        comments=at,
        update_at=at,
        headers={"PRIVATE-TOKEN": _needed(environ, "TRIPLANE_TOKEN")},
        update="PUT",
    )


def _needed(environ: Mapping[str, str], name: str) -> str:
    if not environ.get(name):
        raise WorkFailed(f"{name} is not set")
    return environ[name]
