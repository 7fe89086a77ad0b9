# settle.sh WORKDIR SET: writes down what was seen. Lines on stdin:
#   record|RUN|SHA256 OF THE RECORD THAT IS THERE, - FOR NONE|NEW RECORD, BASE64
#   secret|RUN    the secrets of a job that has left the queue
#   joined|RUN    jobs that joined this run of a group, which has ended
#   folder|RUN    a run's files, its working folder included
# A record that somebody else has changed meanwhile stays as it is.
enter "$1" "$2"
mutex
while IFS='|' read -r what run old text; do
    case $what in
        secret) rm -f -- "$state/secrets/$run.env" || fail 70 "cannot remove the secrets of $run" ;;
        joined)
            for file in "$state/runs/$run/.joined/"*; do
                [ ! -e "$file" ] || scancel "${file##*/}" 2>/dev/null </dev/null
            done
            rm -rf -- "$state/runs/$run/.joined" || fail 70 "cannot write in $state/runs/$run"
            ;;
        folder)
            rm -rf -- "$state/runs/$run" "$state/work/$run" "$state/secrets/$run.env" \
                "$state/intents/$run" || fail 70 "cannot remove all of $state/runs/$run"
            ;;
        record)
            now=-
            file=$state/records/$run.json
            [ ! -e "$file" ] || now=$(sha256sum <"$file") || fail 70 "cannot read $file"
            if [ "${now%% *}" = "$old" ]; then
                put "$(base64 -d <<<"$text")" "$file"
            else
                echo "moved|$run"
            fi
            ;;
    esac
done
