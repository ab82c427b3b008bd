#!/bin/sh
# Closes its stdout but keeps running.
. "$(dirname "$0")/common.sh"
answer() {
    if [ "$value" = 5 ]; then
        exec >&-
        while :; do sleep 1; done
    fi
    honest
}
serve
