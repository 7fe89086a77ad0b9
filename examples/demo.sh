#!/bin/sh
# The main job from end to end, with no server: validate, render, plan, apply, change, plan, apply.
# Works in a copy of the examples, so that the checkout stays as it is.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/triplane-demo.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/stacks"
cp -R "$here/examples" "$work/examples"
cp "$here/stacks/demo.yaml" "$work/stacks/"
cd "$work"

say() { printf '\n\033[1m== %s\033[0m\n' "$*"; }
run() { printf '$ %s\n' "$*"; "$@"; }

task=examples/llama-pretrain/task.yaml
say "1. Is the task right? All errors would come at once, with file:line:column."
run triplane validate $task stacks/demo.yaml

say "2. What would each platform get? Rendered for all three, no cluster needed."
run triplane render $task --stack stacks/demo.yaml --every-target --out rendered/review

say "3. The set's first plan, saved and applied (targets here are plain directories)."
run triplane plan --stack stacks/demo.yaml --out plan.json
run triplane apply plan.json

say "4. Again: nothing is left to do."
run triplane plan --stack stacks/demo.yaml

say "5. A reviewer asks for half the GPUs and a longer run."
sed -i 's/accelerators: H100:8/accelerators: H100:4/; s/MAX_STEPS: "20000"/MAX_STEPS: "40000"/' $task
run triplane plan --stack stacks/demo.yaml
run triplane apply --stack stacks/demo.yaml --auto-approve

say "6. What is there now."
run triplane status --stack stacks/demo.yaml
say "Done. The same commands work in this checkout with --stack stacks/demo.yaml."
