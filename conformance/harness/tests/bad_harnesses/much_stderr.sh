#!/bin/sh
# Writes more to stderr than a pipe holds, and exits in one case.
. "$(dirname "$0")/common.sh"
answer() {
    head -c 1000000 /dev/zero | tr "\0" e >&2
    if [ "$value" = 5 ]; then
        echo >&2
        echo "these are the last words" >&2
        exit 3
    fi
    honest
}
serve
