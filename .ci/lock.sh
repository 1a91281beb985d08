#!/bin/sh
# Write the locks: every Python from 3.11 on, with hashes, naming no host.
set -eu
compile() {
    "${UV:-uv}" pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
        "$@" pyproject.toml
}
command -v "${UV:-uv}" >/dev/null || { echo "make lock needs uv: pip install uv, or set UV to one" >&2; exit 1; }
compile --output-file requirements.lock
compile --group dev --constraints requirements.lock --output-file requirements-dev.lock
if grep -nE '[a-z]+://' requirements.lock requirements-dev.lock; then
    echo "a lock names a host; it must not" >&2
    exit 1
fi
