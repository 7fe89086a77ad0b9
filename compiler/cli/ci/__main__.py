"""The command line of a CI job; see the package."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from compiler.cli.ci import artifacts, forges, jobs
from compiler.diagnostics import TriplaneError

_EPILOG = "What stands behind `--` is handed to triplane."
FORGES = {"github": forges.github, "gitlab": forges.gitlab}


def main(words: Sequence[str] | None = None) -> int:
    """Run one job; its exit code is that of `triplane`, but 0 where a plan found changes."""
    words = list(sys.argv[1:] if words is None else words)
    at = words.index("--") if "--" in words else len(words)
    given, more = _parser().parse_args(words[:at]), words[at + 1 :]
    try:
        if given.command == "plan":
            outcome = jobs.plan(
                given.stack,
                base=given.base or None,
                also_from_base=[path for path in given.from_base if path],
                read_only=given.read_only,
                plan_file=given.plan_file,
                more=more,
            )
        else:
            outcome = jobs.apply(given.stack, plan_file=_saved(given), more=more)
        _publish(given, outcome)
    except TriplaneError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    return outcome.code if outcome.failed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -I -m compiler.cli.ci", description=__doc__, epilog=_EPILOG
    )
    parser.add_argument("command", choices=["plan", "apply"])
    parser.add_argument("--stack", required=True)
    parser.add_argument("--plan-file", default="triplane-plan.json")
    parser.add_argument("--base", help="revision that stack and policy are taken from")
    parser.add_argument("--from-base", action="append", default=[], metavar="PATH")
    parser.add_argument("--read-only", action="store_true", help="for changes of strangers")
    parser.add_argument("--fetch-plan", action="store_true", help="the reviewed plan (GitHub)")
    parser.add_argument("--comment-file", default="triplane-comment.md")
    parser.add_argument("--comment", choices=sorted(FORGES), help="say it on the request")
    return parser


def _saved(given: argparse.Namespace) -> str | None:
    if given.fetch_plan:
        reason = artifacts.fetch_plan(os.environ, given.plan_file)
        if reason is not None:
            print(f"planning anew: {reason}", file=sys.stderr)
            return None
    return given.plan_file if Path(given.plan_file).is_file() else None


def _publish(given: argparse.Namespace, outcome: jobs.Outcome) -> None:
    """The comment to a file, the job's summary and the request; what came of it to later steps."""
    Path(given.comment_file).write_text(outcome.comment, encoding="utf-8")
    _append("GITHUB_STEP_SUMMARY", outcome.comment)
    _append("GITHUB_OUTPUT", f"changes={str(outcome.changes).lower()}\nexit-code={outcome.code}\n")
    if given.comment:
        try:
            said = FORGES[given.comment]().say(forges.marker_of(given.stack), outcome.comment)
            print(f"comment {said}", file=sys.stderr)
        except TriplaneError as error:
            # A token that may only read is the safe one; the job's summary has the same text.
            print(f"warning: no comment: {error}", file=sys.stderr)


def _append(variable: str, text: str) -> None:
    path = os.environ.get(variable)
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    sys.exit(main())
