# The output of a rank in CloudWatch, beside the copy in the bucket: stream <job>/<rank>.
#
# CloudWatch's own agent follows the log; it is installed from AWS where the image has none. A run
# does not depend on it.
#
# shellcheck shell=bash disable=SC2153,SC2329 # the rest is in job.env and supervisor.sh

AGENT=/opt/aws/amazon-cloudwatch-agent/bin/amazon-cloudwatch-agent-ctl
AGENT_CONFIG=/opt/triplane/cloudwatch.json

start_logs() {
    [ -x "$AGENT" ] || install_agent || return
    # Groups and jobs have no character that JSON would have to escape.
    cat >"$AGENT_CONFIG" <<CONFIG
{
  "agent": {"run_as_user": "root"},
  "logs": {
    "force_flush_interval": 5,
    "logs_collected": {"files": {"collect_list": [{
      "file_path": "$LOG",
      "log_group_name": "$LOG_GROUP",
      "log_stream_name": "$JOB/$RANK",
      "retention_in_days": $LOG_DAYS
    }]}}
  }
}
CONFIG
    "$AGENT" -a fetch-config -m ec2 -s -c "file:$AGENT_CONFIG" >/dev/null
}

# The agent sends what it has read before it stops.
stop_logs() {
    sleep 6
    "$AGENT" -a stop >/dev/null
}

install_agent() {
    local url=https://amazoncloudwatch-agent.s3.amazonaws.com folder arch=amd64
    [ "$(uname -m)" = x86_64 ] || arch=arm64
    folder=$(mktemp -d) || return
    if command -v apt-get >/dev/null; then
        retry curl -fsS -o "$folder/agent.deb" \
            "$url/ubuntu/$arch/latest/amazon-cloudwatch-agent.deb" &&
            apt-get -o DPkg::Lock::Timeout=600 -qq -y install "$folder/agent.deb" >/dev/null
    else
        retry curl -fsS -o "$folder/agent.rpm" \
            "$url/amazon_linux/$arch/latest/amazon-cloudwatch-agent.rpm" &&
            yum -q -y install "$folder/agent.rpm" >/dev/null
    fi
}
