#!/usr/bin/env bash
# What action.yml runs: installs triplane beside the checkout, never from it, and runs one job.
# All it is told comes in variables; see action.yml.
set -euo pipefail

venv="${RUNNER_TEMP:?}/triplane"
if [ ! -x "$venv/bin/python" ]; then
    "${TRIPLANE_PYTHON:-python3}" -m venv "$venv"
    "$venv/bin/python" -I -m pip install --quiet --disable-pip-version-check \
        "${TRIPLANE_INSTALL:-$ACTION_PATH}"
fi
python=("$venv/bin/python" -I)

words=("$INPUT_COMMAND" --stack "$INPUT_STACK" --plan-file "$INPUT_PLAN_FILE")
if [ -n "${BASE_SHA:-}" ]; then
    git cat-file -e "$BASE_SHA" 2>/dev/null || git fetch --quiet --depth=1 origin "$BASE_SHA"
fi
if [ -n "$INPUT_REQUIREMENTS" ]; then
    # Plug-ins run with all that this job may do: a pull request does not choose them.
    wanted="$RUNNER_TEMP/triplane-requirements.txt"
    git show "${BASE_SHA:-HEAD}:./$INPUT_REQUIREMENTS" >"$wanted"
    "${python[@]}" -m pip install --quiet --disable-pip-version-check --requirement "$wanted"
fi
if [ "$INPUT_COMMAND" = plan ]; then
    if [ -n "${BASE_SHA:-}" ]; then
        words+=(--base "$BASE_SHA")
        while IFS= read -r path; do
            words+=(--from-base "$path")
        done <<<"$INPUT_FROM_BASE"
    fi
    if [ "$INPUT_READ_ONLY" = true ] || { [ "$INPUT_READ_ONLY" = auto ] && [ "$IS_FORK" = true ]; }
    then
        words+=(--read-only)
    fi
elif [ "$INPUT_FETCH_PLAN" = true ]; then
    words+=(--fetch-plan)
fi
if [ "$INPUT_COMMENT" = true ] && [ -n "${TRIPLANE_REQUEST:-}" ]; then
    words+=(--comment github)
fi
exec "${python[@]}" -m compiler.cli.ci "${words[@]}"
