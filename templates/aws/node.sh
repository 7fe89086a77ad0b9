# How the supervisor prepares a node and starts the launcher on it, with or without a container.
#
# shellcheck shell=bash disable=SC2153,SC2034 # the variables come from job.env and supervisor.sh

TREES_FOLDER=/opt/triplane/trees # files for a container, mounted from here
CONTAINER_ARGUMENTS=()           # docker options that preparation found out
SECRET_NAMES=()
SECRET_VALUES=()

# The account that runs the user's text: the image's own, else root.
OWNER=root
for name in ubuntu ec2-user; do
    if id -u "$name" >/dev/null 2>&1; then
        OWNER=$name
        break
    fi
done
OWNER_HOME=$(getent passwd "$OWNER" | cut -d: -f6)

prepare_node() {
    chown "$OWNER" "$RANK_FOLDER"
    fetch_secrets || return 1
    # A clone needs an empty folder: what the task brings along is laid over it.
    if [ -e "$SCRIPTS/git.sh" ]; then
        clone_workdir || { say "cannot clone $GIT_URL" && return 1; }
    fi
    place_volumes || { say "cannot mount a volume" && return 1; }
    local tree
    for tree in "${TREES[@]}"; do
        place_tree "$tree" || { say "cannot place ${tree#* }" && return 1; }
    done
    place_secrets || return 1
    place_buckets || { say "cannot copy or mount a bucket" && return 1; }
    if [ -n "$CONTAINER_IMAGE" ]; then
        prepare_container || { say "cannot pull $CONTAINER_IMAGE" && return 1; }
    fi
}

# in_home PATH HOME: the path with ~ resolved; a relative one is below the working directory.
in_home() {
    case $1 in
        \~) printf %s "$2" ;;
        \~/*) printf '%s/%s' "$2" "${1#\~/}" ;;
        /*) printf %s "$1" ;;
        *) printf '%s/sky_workdir/%s' "$2" "$1" ;;
    esac
}

# target_of DESTINATION: where to put something on this host; in a container it is mounted.
target_of() {
    if [ -z "$CONTAINER_IMAGE" ]; then
        TARGET=$(in_home "$1" "$OWNER_HOME")
    else
        TARGET=$TREES_FOLDER/${#CONTAINER_ARGUMENTS[@]}
        CONTAINER_ARGUMENTS+=(--volume "$TARGET:$(in_home "$1" /root)")
    fi
}

# make_folder PATH: what is new of it belongs to the account that runs the task.
make_folder() {
    local first=$1
    [ ! -d "$1" ] || return 0
    while [ -n "${first%/*}" ] && [ ! -d "${first%/*}" ]; do
        first=${first%/*}
    done
    mkdir -p "$1" && chown -R "$OWNER" "$first"
}

# place_tree "DIGEST folder|file DESTINATION": unpacks an archive of the bucket.
place_tree() {
    local digest=${1%% *} rest=${1#* } kind unpacked
    kind=${rest%% *}
    target_of "${rest#* }"
    unpacked=$(mktemp -d /opt/triplane/unpack.XXXXXX) || return
    retry aws s3 cp --quiet "$FILES_URL/$digest.tar.gz" "$unpacked.tar.gz" &&
        tar -xzf "$unpacked.tar.gz" -C "$unpacked" || return
    if [ "$kind" = file ]; then
        make_folder "${TARGET%/*}" && mv "$unpacked"/* "$TARGET"
    else
        make_folder "$TARGET" && cp -a "$unpacked/." "$TARGET/"
    fi || return
    chown -R "$OWNER" "$TARGET"
    rm -rf "$unpacked" "$unpacked.tar.gz"
}

# install_package NAME: on Ubuntu, whose own upgrades may hold the lock right after boot.
install_package() {
    apt-get -o DPkg::Lock::Timeout=600 -qq update &&
        apt-get -o DPkg::Lock::Timeout=600 -qq -y install "$1" >/dev/null
}

# Values go from the store into the launcher's environment: no file, no argument holds one.
fetch_secrets() {
    local entry
    for entry in "${SECRETS[@]}"; do
        read_secret "${entry#*=}" || return
        SECRET_NAMES+=("${entry%%=*}")
        SECRET_VALUES+=("$SECRET")
    done
}

# read_secret ssm:NAME|secrets_manager:ID: the value is in SECRET.
read_secret() {
    case $1 in
        ssm:*)
            SECRET=$(retry aws ssm get-parameter --with-decryption --name "${1#*:}" \
                --query Parameter.Value --output text && printf x)
            ;;
        secrets_manager:*)
            SECRET=$(retry aws secretsmanager get-secret-value --secret-id "${1#*:}" \
                --query SecretString --output text && printf x)
            ;;
    esac
    # The last line break is the command's own; the x keeps those of the value.
    if [ "${SECRET%x}" = "$SECRET" ]; then
        say "cannot read the secret $1"
        return 1
    fi
    SECRET=${SECRET%x}
    SECRET=${SECRET%$'\n'}
}

# secret_file SOURCE DESTINATION: for the account that runs the task alone.
secret_file() {
    read_secret "$1" || return
    target_of "$2"
    make_folder "${TARGET%/*}" && (umask 077 && printf %s "$SECRET" >"$TARGET") &&
        chown "$OWNER" "$TARGET"
}

# with_secrets COMMAND...: becomes COMMAND; their names may be those of variables used here.
with_secrets() {
    local -a command=("$@")
    local index
    for index in "${!SECRET_NAMES[@]}"; do
        export "${SECRET_NAMES[index]}=${SECRET_VALUES[index]}"
    done
    exec "${command[@]}"
}

prepare_container() {
    command -v docker >/dev/null || install_package docker.io || return
    local name
    for name in "${SECRET_NAMES[@]}"; do
        CONTAINER_ARGUMENTS+=(--env "$name")
    done
    case $ACCELERATOR in
        nvidia) CONTAINER_ARGUMENTS+=(--gpus all) ;;
        neuron)
            for name in /dev/neuron*; do
                CONTAINER_ARGUMENTS+=(--device "$name")
            done
            ;;
    esac
    if [ "$EFA" -ne 0 ]; then
        CONTAINER_ARGUMENTS+=(--cap-add IPC_LOCK --device /dev/infiniband --env FI_PROVIDER)
    fi
    log_in_to_registry
    retry docker pull --quiet "$CONTAINER_IMAGE"
}

log_in_to_registry() (
    server=${CONTAINER_IMAGE%%/*}
    case $server in
        *.dkr.ecr.*.amazonaws.com*)
            aws ecr get-login-password | docker login --username AWS --password-stdin "$server"
            exit
            ;;
    esac
    # The three variables of the dialect are among the task's envs, or among its secrets.
    # shellcheck disable=SC2016
    with_secrets bash -c '. "$0/task.env"
        if [ -n "$SKYPILOT_DOCKER_USERNAME" ] && [ -n "$SKYPILOT_DOCKER_PASSWORD" ]; then
            printf %s "$SKYPILOT_DOCKER_PASSWORD" | docker login --password-stdin \
                --username "$SKYPILOT_DOCKER_USERNAME" "$SKYPILOT_DOCKER_SERVER"
        fi' "$SCRIPTS"
)

start_launcher() {
    local -a command
    [ "$EFA" -eq 0 ] || export FI_PROVIDER=efa
    if [ -n "$CONTAINER_IMAGE" ]; then
        command=(docker run --rm --name triplane --network host --ipc host --user 0:0
            --ulimit nofile=1048576:1048576 --ulimit memlock=-1:-1
            --env HOME=/root --entrypoint bash
            --volume "$SCRIPTS:$SCRIPTS:ro" --volume "$RANK_FOLDER:$RANK_FOLDER"
            "${CONTAINER_ARGUMENTS[@]}" "${CONTAINER_OPTIONS[@]}"
            "$CONTAINER_IMAGE" "$SCRIPTS/launcher.sh" all)
    else
        # A login shell, so that /etc/profile counts. Each command becomes the next one: the
        # launcher is this process's child, at the head of a session of its own.
        # shellcheck disable=SC2016
        command=(setsid setpriv --reuid "$OWNER" --regid "$OWNER" --init-groups
            env -u AWS_DEFAULT_REGION HOME="$OWNER_HOME" USER="$OWNER" LOGNAME="$OWNER"
            SHELL=/bin/bash bash -l -c 'exec bash "$0" all' "$SCRIPTS/launcher.sh")
    fi
    with_secrets "${command[@]}" >>"$LOG" 2>&1 &
    LAUNCHER=$!
}

# signal_launcher NAME: TERM asks the launcher, KILL takes all its processes.
signal_launcher() {
    if [ -n "$CONTAINER_IMAGE" ]; then
        docker kill --signal "$1" triplane >/dev/null 2>&1
    elif [ "$1" = KILL ]; then
        pkill -KILL -s "$LAUNCHER"
    else
        kill -s "$1" "$LAUNCHER" 2>/dev/null
    fi
}
