#!/bin/sh
# make_venv.sh PYTHON FOLDER: a virtual environment, also where Debian's python3 comes without venv.
set -eu
python=$1 folder=$2
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    echo "triplane needs Python 3.11 or later; $python is $("$python" -V 2>&1)" >&2
    exit 1
fi
if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        apt-get update -qq
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3-venv
    else
        echo "$python lacks its venv module: as root, apt-get install python3-venv" >&2
        exit 1
    fi
fi
exec "$python" -m venv "$folder"
