# Volumes of the task on a node: each mounted once, and shown wherever the task wants it.
#
# Where a volume is, is in the instance's tags, which the program makes of what it has created.
# job.env calls these functions with what the task asks for.
#
# shellcheck shell=bash disable=SC2153,SC2329 # the rest is in node.sh and supervisor.sh

VOLUMES=/opt/triplane/volumes
ATTACH_SECONDS=600 # disks are attached when the instance runs
NFS_OPTIONS=nfsvers=4.1,rsize=1048576,wsize=1048576,hard,timeo=600,retrans=2,noresvport

# use_volume NAME disk|nfs|lustre ro|rw [DEVICE]
use_volume() {
    local where folder=$VOLUMES/$1
    where=$(retry metadata "tags/instance/triplane:volume:$1") || return
    mkdir -p "$folder" || return
    case $2 in
        disk) mount_disk "$where" "$folder" "$3" "$4" ;;
        nfs)
            command -v mount.nfs4 >/dev/null || install_nfs || return
            retry mount -t nfs4 -o "$3,$NFS_OPTIONS" "$where:/" "$folder"
            ;;
        lustre)
            command -v mount.lustre >/dev/null || install_lustre || return
            retry mount -t lustre -o "$3,relatime,flock" "${where%%/*}@tcp:/${where#*/}" "$folder"
            ;;
    esac || return
    [ "$3" = ro ] || chown "$OWNER" "$folder"
}

# mount_disk ID FOLDER ro|rw DEVICE
mount_disk() {
    local device=/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_${1/-/} found
    local deadline=$(($(date +%s) + ATTACH_SECONDS))
    until [ -e "$device" ]; do
        if [ -e "/dev/xvd$4" ]; then # an instance type without NVMe
            device=/dev/xvd$4
            break
        fi
        if [ "$(date +%s)" -gt "$deadline" ]; then
            say "disk $1 was not attached within $ATTACH_SECONDS seconds"
            return 1
        fi
        sleep 2
    done
    # Formatted is only what nothing was ever written to: 2 says that nothing was found.
    blkid -p "$device" >/dev/null
    found=$?
    case $found in
        0) ;;
        2) mkfs.ext4 -q "$device" || return ;;
        *)
            say "what is on disk $1 is not known"
            return 1
            ;;
    esac
    mount -o "$3" "$device" "$2" || return
    # The disk may have grown since it was used last.
    case $(blkid -o value -s TYPE "$device") in
        ext*) resize2fs "$device" ;;
        xfs) xfs_growfs "$2" >/dev/null ;;
    esac
}

# place_volume NAME DESTINATION [PART]
place_volume() {
    local source=$VOLUMES/$1${3:+/$3}
    make_folder "$source" || return
    target_of "$2"
    make_folder "$TARGET" && mount --bind "$source" "$TARGET"
}

install_nfs() {
    if command -v apt-get >/dev/null; then install_package nfs-common; else yum -q -y install nfs-utils; fi
}

install_lustre() {
    local url=https://fsx-lustre-client-repo key=/usr/share/keyrings/fsx-lustre.gpg codename
    if ! command -v apt-get >/dev/null; then
        yum -q -y install lustre-client || dnf -q -y install lustre-client
        return
    fi
    # shellcheck source=/dev/null
    codename=$(. /etc/os-release && printf %s "$VERSION_CODENAME")
    retry curl -fsS -o "$key.asc" "$url-public-keys.s3.amazonaws.com/fsx-ubuntu-public-key.asc" &&
        gpg --batch --yes --dearmor -o "$key" "$key.asc" || return
    printf 'deb [signed-by=%s] %s.s3.amazonaws.com/ubuntu %s main\n' "$key" "$url" "$codename" \
        >/etc/apt/sources.list.d/fsx-lustre.list
    install_package "lustre-client-modules-$(uname -r)"
}
