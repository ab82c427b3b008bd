#!/bin/sh
# Hangs in the middle of an answer.
. "$(dirname "$0")/common.sh"
answer() {
    if [ "$value" = 5 ]; then
        printf "{\"seq\":%s,\"resu" "$seq"
        while :; do sleep 1; done
    fi
    honest
}
serve
