#!/bin/bash
# Boots one rank of lab-desk-1: fetches the run's scripts and starts its supervisor.
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
    aws s3 cp --quiet --recursive 's3://lab-runs/.triplane/lab/runs/us-east-1/desk.1/scripts/' "$SCRIPTS/" &&
        (cd "$SCRIPTS" && sha256sum --quiet --check SHA256SUMS)
}

start() {
    command -v aws >/dev/null || install_aws_cli || return
    mkdir -p "$SCRIPTS"
    cat >"$SCRIPTS/SHA256SUMS" <<'DIGESTS' || return
937a49af429acb5a10f3bf07d6d52fcfcd59c7869747f39fb16b1fcff403a09d  bashrc.sh
96a6253944bdca5486ec35fb287dd0883eb351dc4782e207c08968e110b49ba9  enter.sh
4ae978cccdb024bd4cfe54c3431c80c386217c5fa4c24d2502468e32d7e0a88f  idle.sh
aab7109a77cfd468b562b37462627af99ebf2f5ec36c417a4528e5994a02776e  job.env
31e1d9f75d7b647e44d176f2d110e23057499a8d7b1c32fdd6a86bb0eb4f44d6  launcher.sh
95b78912343e90eb019bcee892f153bc6a6783459aeda4f4c27de7f4845cf75c  node.sh
9124b4c77dd8de035222fd6f4166bd474870bea1d043672f3c37d289a3d047ee  peers.sh
57a18023af669d44dc205fb9ecc7af4fb8bfe5872f472de4bc2bdca3b94299ba  platform.sh
4c1c21e72e48fcac1d9abd635d6c8b06322e897fae43d58f29f3e5f391f0e1bd  prologue.sh
2001c495da3792d1b20031af09cb1ea84118bd2eb53103969f3e5bcf282c16ef  setup.sh
562e2d174251501e2ff5f4bd98cb53ece0e2be111da5c7bc338095bfa1f46316  supervisor.sh
e7673819e9202d02c56a2535b29705ef27a9a37cd9af477c3b18797d75d3fdf4  task.env
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
        --property TimeoutStopSec=90 /bin/bash "$SCRIPTS/supervisor.sh"
}

if ! start; then
    echo "triplane: the scripts of lab-desk-1 could not be started" >&2
    exit 1
fi
