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

if [ -t 1 ]; then bold='\033[1m' plain='\033[0m'; else bold='' plain=''; fi
say() { printf "\n${bold}== %s${plain}\n" "$*"; }
run() {
    printf '$ %s\n' "$*"
    "$@"
}

task=examples/llama-pretrain/task.yaml
stack=stacks/demo.yaml

say "1. Is the task right? All errors would come at once, with file:line:column."
run triplane validate $task $stack

say "2. What would each platform get? Rendered for all three, no cluster needed."
run triplane render $task --stack $stack --every-target --out review

say "3. The first plan, saved, then applied byte for byte (all three targets are directories)."
run triplane plan $task --stack $stack --every-target --out plan.json
run triplane apply plan.json

say "4. Again: nothing is left to do."
run triplane plan $task --stack $stack --every-target

say "5. A reviewer asks for four nodes and a longer run; the plan says what that changes."
sed -i 's/num_nodes: 2/num_nodes: 4/; s/MAX_STEPS: "20000"/MAX_STEPS: "40000"/' $task
run triplane plan $task --stack $stack --every-target
run triplane apply $task --stack $stack --every-target --auto-approve

say "6. What is there now, and where the whole set of examples would be placed."
run triplane status --stack $stack
run triplane plan --stack $stack

say "Done. The same commands work in the checkout: triplane plan --stack stacks/demo.yaml"
