#!/bin/sh
# Install a lock into a virtual environment, making it if need be: sh .ci/venv.sh .venv requirements.lock
# With --editable in place of a lock, install this repository itself, without fetching anything.
set -eu
venv=$1
lock=$2

python() { # the newest Python that is at least 3.11; PYTHON=... decides otherwise
    for candidate in ${PYTHON:-python3.14 python3.13 python3.12 python3.11 python3 python}; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            command -v "$candidate"
            return
        fi
    done
    echo "earnkeep needs Python 3.11 or later; set PYTHON to one" >&2
    exit 1
}

make_venv() {
    chosen=$(python)
    if "$chosen" -c 'import ensurepip, venv' 2>/dev/null; then
        "$chosen" -m venv "$venv"
    elif command -v uv >/dev/null; then
        uv venv --quiet --seed --python "$chosen" "$venv"
    elif command -v virtualenv >/dev/null; then
        virtualenv --quiet --python "$chosen" "$venv"
    else
        echo "$chosen cannot make virtual environments. On Debian or Ubuntu this helps:" >&2
        echo "    apt-get install --yes python3-venv" >&2
        exit 1
    fi
}

test -x "$venv/bin/python" || make_venv
if test "$lock" = --editable; then
    "$venv/bin/python" -m pip install --quiet --no-deps --no-build-isolation --no-index --editable .
else
    echo "installing $lock into $venv" >&2
    "$venv/bin/python" -m pip install --quiet --require-hashes --requirement "$lock"
fi
