"""The plan that a pull request was reviewed with, found again after its merge.

A plan is applied byte for byte, so it is only taken from a run of a branch of the very same
repository: whoever can push there could push what is applied as well. A run of a fork is
nobody's in particular, whatever its artifact is called.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from compiler.cli.ci.forges import ask

_LARGEST = 512 * 1024 * 1024


def artifact_name(sha: str) -> str:
    """What the plan of a commit is uploaded as."""
    return f"triplane-plan-{sha}"


def fetch_plan(environ: Mapping[str, str], plan_file: str) -> str | None:
    """Write the plan of the merged request to `plan_file`.

    Returns why not where there is none to be trusted, None where it is there. Raise WorkFailed
    where the forge refuses.
    """
    at = f"{environ['GITHUB_API_URL']}/repos/{environ['GITHUB_REPOSITORY']}"
    headers = {
        "Authorization": f"Bearer {environ['TRIPLANE_TOKEN']}",
        "Accept": "application/vnd.github+json",
    }
    requests = ask("GET", f"{at}/commits/{environ['GITHUB_SHA']}/pulls", headers)
    if not requests:
        return "no pull request was merged with this commit"
    sha = str(requests[0]["head"]["sha"])
    found = ask("GET", f"{at}/actions/artifacts?name={artifact_name(sha)}", headers)
    trusted = [item for item in found["artifacts"] if _is_own(item, sha)]
    if not trusted:
        return f"no run of this repository's own branches left a plan of {sha[:12]}"
    latest = max(trusted, key=lambda item: str(item["created_at"]))
    return _extracted(str(latest["archive_download_url"]), headers, plan_file)


def _is_own(item: Mapping[str, Any], sha: str) -> bool:
    run = item.get("workflow_run") or {}
    return (
        not item.get("expired")
        and run.get("head_sha") == sha
        and run.get("repository_id") is not None
        and run.get("repository_id") == run.get("head_repository_id")
    )


def _extracted(address: str, headers: Mapping[str, str], plan_file: str) -> str | None:
    import urllib3

    answer = urllib3.request("GET", address, headers={**headers, "User-Agent": "triplane"})
    if answer.status != 200:
        return f"the plan cannot be downloaded: {answer.status}"
    with zipfile.ZipFile(io.BytesIO(answer.data)) as archive:
        entries = [entry for entry in archive.infolist() if not entry.is_dir()]
        # Only the content is taken: a name in an archive is no place to write to.
        if len(entries) != 1 or entries[0].file_size > _LARGEST:
            return "the artifact is not one plan"
        Path(plan_file).write_bytes(archive.read(entries[0]))
    return None
