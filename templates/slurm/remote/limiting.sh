# What the snippets that tell our limits share.
# shellcheck shell=bash

# limits: what account and QOS allow (`assoc|<default account>|<account>|<default QOS>|<TRES a job>|
# <TRES of all>`, `qos|<name>|<TRES a user>|<TRES a job>|<TRES of all>`) and what our jobs have of it
# (`used|<account>|<QOS>|<TRES>`). Where the accounting does not answer no limit is known.
limits() {
    local cluster
    cluster=$(scontrol show config 2>/dev/null </dev/null | sed -n 's/^ClusterName *= *//p')
    sacctmgr -n -P show user where "name=$me" "cluster=$cluster" withassoc \
        format=DefaultAccount,Account,DefaultQOS,MaxTRES,GrpTRES 2>/dev/null </dev/null | sed 's/^/assoc|/'
    sacctmgr -n -P show qos format=Name,MaxTRESPU,MaxTRES,GrpTRES 2>/dev/null </dev/null | sed 's/^/qos|/'
    squeue -h -t RUNNING,COMPLETING,SUSPENDED -u "$me" -O 'account:60|,qos:60|,tres-alloc:300' 2>/dev/null </dev/null |
        sed -n '/|.*|/s/^/used|/p'
    return 0
}
