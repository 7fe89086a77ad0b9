#!/bin/sh
# enter.sh -s STATE -n HOST [-c ETC_SLURM] [-r ROOT] [-p PIDFILE] [-t] COMMAND...
#
# Runs COMMAND on host HOST of the site in STATE.  Must itself be started in new mount and UTS namespaces
# (unshare -m -u): all that is mounted here is seen by COMMAND and its children only, and is gone when they are.
#   -c  the folder that this host has as /etc/slurm
#   -r  a Debian tree to run in instead of the machine's own
#   -p  write the process id there before becoming COMMAND
#   -t  give the host a /tmp of its own
set -eu
state='' host='' conf='' root='' pidfile='' own_tmp=''
while getopts s:n:c:r:p:t option; do
    case $option in
        s) state=$OPTARG ;;
        n) host=$OPTARG ;;
        c) conf=$OPTARG ;;
        r) root=$OPTARG ;;
        p) pidfile=$OPTARG ;;
        t) own_tmp=$state/hosts/$host/tmp ;;
        *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))

echo "$host" >/proc/sys/kernel/hostname
if [ -n "$root" ]; then
    mount --bind "$root" "$root" # chroot's mounts need a root that is a mount point
    for shared in proc sys dev; do mount --rbind "/$shared" "$root/$shared"; done
    mkdir -p "$root$state"
    mount --bind "$state" "$root$state"
fi

# An empty /run of the site's own.  Its name also tells, in /proc/PID/mountinfo, which processes belong to the site.
mount -t tmpfs -o mode=755,size=4m "slurm-site:$state" "$root/run"
mkdir "$root/run/munge" "$root/run/sshd"
mount --bind "$state/munge/socket" "$root/run/munge"

for entry in "$state"/etc/*; do mount --bind "$entry" "$root/etc/${entry##*/}"; done
[ -z "$conf" ] || mount --bind "$conf" "$root/etc/slurm"

if [ -n "$own_tmp" ]; then
    case $state in
        /tmp/*) # would be hidden by the new /tmp: put it there again
            mkdir -p "$own_tmp/${state#/tmp/}"
            mount --bind "$state" "$own_tmp/${state#/tmp/}"
            ;;
    esac
    mount --rbind "$own_tmp" "$root/tmp"
fi

[ -z "$pidfile" ] || echo $$ >"$pidfile"
cd /
if [ -n "$root" ]; then exec chroot "$root" "$@"; else exec "$@"; fi
