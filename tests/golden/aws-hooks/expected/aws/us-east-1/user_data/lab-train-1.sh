#!/bin/bash
# Boots one rank of lab-train-1: fetches the run's scripts and starts its supervisor.
#
# The scripts are objects of the run's own folder in the bucket; their digests below make sure
# that what runs is what was rendered. The AWS CLI is part of the Deep Learning AMIs and of
# Amazon Linux; on other images it is installed from AWS's own archive.

export AWS_DEFAULT_REGION='us-east-1'
SCRIPTS=/opt/triplane/scripts

install_aws_cli() (
    cd "$(mktemp -d)" || exit 1
    curl -fsS --retry 5 -o cli.zip "https://awscli.amazonaws.com/awscli-exe-linux-$(uname -m).zip" &&
        python3 -m zipfile -e cli.zip . &&
        chmod +x aws/install aws/dist/aws aws/dist/aws_completer &&
        ./aws/install
)

fetch_scripts() {
    aws s3 cp --quiet --recursive 's3://lab-runs/.triplane/lab/runs/us-east-1/train.1/scripts/' "$SCRIPTS/" &&
        (cd "$SCRIPTS" && sha256sum --quiet --check SHA256SUMS)
}

start() {
    command -v aws >/dev/null || install_aws_cli || return
    mkdir -p "$SCRIPTS"
    cat >"$SCRIPTS/SHA256SUMS" <<'DIGESTS' || return
937a49af429acb5a10f3bf07d6d52fcfcd59c7869747f39fb16b1fcff403a09d  bashrc.sh
96a6253944bdca5486ec35fb287dd0883eb351dc4782e207c08968e110b49ba9  enter.sh
96c87e7f10d76c8647582eee05baa96e4ae47c912451d8d56ab5ef4c9713da72  hook-0.sh
fa72c1037e281faceba7902110a530cf03f747ae992156a804d1cbef9557ddfc  hook-1.sh
55a8389faf6e9dd3b238f8f3d42ee1c1d7357a41801b93a35507955472477d22  hook-2.sh
4f7507a16be8dc08430f50d6912700b03d3bceecc4f0f0c971a850071442c18b  hooks.sh
fa162460dceb6303ef682e960a2c1a4ca3a25864b997d655b23c34c37d3ef2d9  job.env
31e1d9f75d7b647e44d176f2d110e23057499a8d7b1c32fdd6a86bb0eb4f44d6  launcher.sh
95b78912343e90eb019bcee892f153bc6a6783459aeda4f4c27de7f4845cf75c  node.sh
9124b4c77dd8de035222fd6f4166bd474870bea1d043672f3c37d289a3d047ee  peers.sh
57a18023af669d44dc205fb9ecc7af4fb8bfe5872f472de4bc2bdca3b94299ba  platform.sh
4c1c21e72e48fcac1d9abd635d6c8b06322e897fae43d58f29f3e5f391f0e1bd  prologue.sh
b7278539d56791874399fcf435d30dc1c208924eb48333a3b0e64fe81bfb4ef1  run.sh
562e2d174251501e2ff5f4bd98cb53ece0e2be111da5c7bc338095bfa1f46316  supervisor.sh
5cfbf544fa93a0931ec27dca59bb586dac922d1af7d56249ead71b2dd453d240  task.env
DIGESTS
    # The role's permissions can take a minute to reach S3.
    local tries=0
    until fetch_scripts; do
        tries=$((tries + 1))
        [ "$tries" -lt 30 ] || return
        sleep 10
    done
    systemd-run --unit triplane --collect --setenv AWS_DEFAULT_REGION="$AWS_DEFAULT_REGION" \
        --property LimitMEMLOCK=infinity --property LimitNOFILE=1048576 \
        --property TimeoutStopSec=400 /bin/bash "$SCRIPTS/supervisor.sh"
}

if ! start; then
    echo "triplane: the scripts of lab-train-1 could not be started" >&2
    shutdown -h now
fi
