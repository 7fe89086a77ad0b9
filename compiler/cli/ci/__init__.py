"""What a CI job runs: plan a proposed change and show it, apply what was merged.

    python -I -m compiler.cli.ci plan --stack stacks/prod.yaml --base origin/main --read-only
    python -I -m compiler.cli.ci apply --stack stacks/prod.yaml --plan-file plan.json

Isolated (`-I`), so that no module is ever imported from the checkout, which may be a stranger's.
"""
