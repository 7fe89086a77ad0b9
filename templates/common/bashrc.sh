# Reads ~/.bashrc as an interactive shell does, and prints what became of the shell: commands
# for eval that carry variables, functions, umask and limits over, and a NUL byte at the end.
#
#   bash --rcfile /dev/null -i bashrc.sh 8>ANSWER 9>&2 2>/dev/null </dev/null
#
# See prologue.sh for the why. Bash complains about the missing terminal before it gets here,
# and that is all that the muted stderr swallows.

exec 2>&9 9>&-
set +H
_tp_exported=" $(compgen -A export) "
_tp_exported=${_tp_exported//[[:space:]]/ }
_tp_before=" $(compgen -A variable) "
_tp_before=${_tp_before//[[:space:]]/ }

# The answer's descriptor is kept from daemons that the file may start.
# shellcheck source=/dev/null
if [ -r ~/.bashrc ]; then . ~/.bashrc 8>&-; fi
unalias -a
set +eux
exec >&8 8>&- 2>/dev/null

for _tp_name in $_tp_exported; do
    [ -n "${!_tp_name+set}" ] || printf 'unset -v %s\n' "$_tp_name"
done
for _tp_name in $(compgen -A variable); do
    case $_tp_name in
        _ | _tp_* | BASH* | SHELLOPTS | SHLVL | PWD | OLDPWD | PPID | UID | EUID | IFS | PIPESTATUS)
            continue
            ;;
    esac
    # What is neither new nor exported is a variable of bash itself.
    if [[ $_tp_before != *" $_tp_name "* || $_tp_exported == *" $_tp_name "* ]]; then
        declare -p "$_tp_name"
    fi
done

shopt -p extglob # the functions below may need it to be parsed at all
declare -f
declare -F | while IFS= read -r _tp_name; do
    [[ $_tp_name != 'declare -f'[a-z]*' '* ]] || printf '%s\n' "$_tp_name"
done

umask -p
for _tp_name in c d e f l m n s t u v; do
    if ulimit -S "-$_tp_name" >/dev/null; then
        printf 'ulimit -S -%s ' "$_tp_name"
        ulimit -S "-$_tp_name"
    fi
done
printf '\0'
