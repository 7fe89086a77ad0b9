# cancel.sh ID[,ID]... MODE: ends a job (MODE any) or only one that waits or is suspended (MODE pending),
# and looks for some seconds whether it is gone. Prints `state|<what the controller says>`.
need_slurm
id=$1
IFS=, read -r -a ids <<<"$id" # those of a pipeline's jobs
case $2 in
    any) answer=$(scancel "${ids[@]}" 2>&1 </dev/null) ;;
    pending) answer=$(scancel --state=PENDING "${ids[@]}" 2>&1 </dev/null && scancel --state=SUSPENDED "${ids[@]}" 2>&1 </dev/null) ;;
esac
for pause in 0.1 0.2 0.4 0.8 1 1 1 1; do
    now=$(states_of "$id") || exit
    now=${now%%$'\n'*}
    case $now in
        '' | BOOT_FAIL | CANCELLED | COMPLETED | DEADLINE | FAILED | NODE_FAIL | OUT_OF_MEMORY)
            break
            ;;
        PREEMPTED | REVOKED | TIMEOUT) break ;;
        # A suspended job is seen COMPLETING before it is gone; of another its end tells.
        PENDING | SUSPENDED | COMPLETING) ;;
        *) [ "$2" = any ] || break ;;
    esac
    case $answer in
        *'denied'* | *'not authorized'*) fail 73 "$answer" ;;
    esac
    sleep "$pause"
done
echo "state|$now"
