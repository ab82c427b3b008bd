#!/bin/sh
# Exits in the middle of one case, with a message on stderr.
. "$(dirname "$0")/common.sh"
answer() {
    if [ "$value" = 5 ]; then
        echo "the library gave up" >&2
        exit 3
    fi
    honest
}
serve
