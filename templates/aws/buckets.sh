# Buckets of the task on a node: copies before setup, mounts, and what is flushed at the end.
#
# Mountpoint for Amazon S3 and rclone come from their makers where the image has none. A cached
# mount keeps what is written on a local disk, uploads it in the background, and is waited for
# when the task has ended. job.env calls these functions with what the task asks for.
#
# shellcheck shell=bash disable=SC2153,SC2329 # the rest is in node.sh and supervisor.sh

CACHED=()       # control sockets of cached mounts
SILENT_LOOKS=30    # how often a cached mount may fail to say what is left to upload
STUCK_SECONDS=7200 # how long not one of its files may get there

# copy_url URL DESTINATION: an object becomes a file, a prefix or a bucket a folder.
copy_url() {
    target_of "$2"
    make_folder "${TARGET%/*}" || return
    case $1 in
        https://*) retry curl -fsSL -o "$TARGET" "$1" ;;
        *)
            if is_object "$1"; then
                retry aws s3 cp --quiet "$1" "$TARGET"
            else
                make_folder "$TARGET" && retry aws s3 sync --quiet "$1" "$TARGET"
            fi
            ;;
    esac || return
    chown -R "$OWNER" "$TARGET"
}

is_object() {
    local path=${1#s3://}
    case $path in */?*) ;; *) return 1 ;; esac
    aws s3api head-object --bucket "${path%%/*}" --key "${path#*/}" >/dev/null 2>&1
}

# mount_bucket BUCKET PREFIX DESTINATION FLAG...
mount_bucket() {
    command -v mount-s3 >/dev/null || install_mountpoint || return
    target_of "$3"
    make_folder "$TARGET" || return
    local -a options=(--allow-other --uid "$(id -u "$OWNER")" --gid "$(id -g "$OWNER")")
    [ -z "$2" ] || options+=(--prefix "$2")
    retry mount-s3 "${options[@]}" "${@:4}" "$1" "$TARGET"
}

# mount_cached BUCKET/PREFIX DESTINATION FLAG...
mount_cached() {
    command -v rclone >/dev/null || install_rclone || return
    target_of "$2"
    local number=${#CACHED[@]} cache=/var/cache/triplane
    # Where the Deep Learning AMIs mount the instance's own disks.
    [ ! -d /opt/dlami/nvme ] || cache=/opt/dlami/nvme/triplane
    local socket=/run/triplane-bucket-$number.sock region
    region=$(region_of "${1%%/*}")
    make_folder "$TARGET" && mkdir -p "$cache/$number" || return
    retry rclone mount --daemon --allow-other --uid "$(id -u "$OWNER")" --gid "$(id -g "$OWNER")" \
        --vfs-cache-mode full --cache-dir "$cache/$number" \
        --rc --rc-no-auth --rc-addr "unix://$socket" "${@:3}" \
        ":s3,provider=AWS,env_auth=true,region=$region:$1" "$TARGET" || return
    CACHED+=("$socket")
}

# region_of BUCKET: which S3 says to everybody; rclone does not look for it.
region_of() {
    local domain=amazonaws.com headers
    [ "${AWS_DEFAULT_REGION#cn-}" = "$AWS_DEFAULT_REGION" ] || domain=amazonaws.com.cn
    headers=$(curl -sS --head --retry 3 "https://s3.$AWS_DEFAULT_REGION.$domain/$1" | tr -d '\r')
    headers=$(sed -n 's/^[Xx]-[Aa]mz-[Bb]ucket-[Rr]egion: *//p' <<<"$headers" | head -n 1)
    printf %s "${headers:-$AWS_DEFAULT_REGION}"
}

# flush_buckets: returns when everything that was written is in its bucket; fails if that cannot
# be known of all of them.
flush_buckets() {
    local socket lost=0
    for socket in "${CACHED[@]}"; do
        flush_bucket "$socket" || lost=1
    done
    return "$lost"
}

# An upload that fails stays in the queue and is tried again.
flush_bucket() {
    local left before='' silent=0 since
    since=$(date +%s)
    while :; do
        left=$(rclone rc --unix-socket "$1" vfs/stats |
            grep -oE '"uploads(InProgress|Queued)": *[0-9]+' |
            awk -F : '{sum += $2} END {if (NR) print sum}')
        if [ -z "$left" ]; then
            silent=$((silent + 1))
            if [ "$silent" -ge "$SILENT_LOOKS" ]; then
                say "a cached bucket is lost: rclone does not answer"
                return 1
            fi
        elif [ "$left" -eq 0 ]; then
            return 0
        elif [ "$left" != "$before" ]; then
            before=$left silent=0 since=$(date +%s)
        elif [ $(($(date +%s) - since)) -gt "$STUCK_SECONDS" ]; then
            say "a cached bucket is lost: $left files were not uploaded"
            return 1
        fi
        announce alive "$(date +%s)"
        sleep 2
    done
}

install_mountpoint() {
    local url=https://s3.amazonaws.com/mountpoint-s3-release/latest folder arch=x86_64
    [ "$(uname -m)" = x86_64 ] || arch=arm64
    folder=$(mktemp -d) || return
    if command -v apt-get >/dev/null; then
        retry curl -fsS -o "$folder/mount-s3.deb" "$url/$arch/mount-s3.deb" &&
            apt-get -o DPkg::Lock::Timeout=600 -qq -y install "$folder/mount-s3.deb" >/dev/null
    else
        retry curl -fsS -o "$folder/mount-s3.rpm" "$url/$arch/mount-s3.rpm" &&
            yum -q -y install "$folder/mount-s3.rpm" >/dev/null
    fi
}

install_rclone() {
    local folder arch=amd64
    [ "$(uname -m)" = x86_64 ] || arch=arm64
    folder=$(mktemp -d) || return
    retry curl -fsS -o "$folder/rclone.zip" "https://downloads.rclone.org/rclone-current-linux-$arch.zip" &&
        python3 -m zipfile -e "$folder/rclone.zip" "$folder" &&
        install -m 755 "$folder"/rclone-*/rclone /usr/local/bin/rclone
}
