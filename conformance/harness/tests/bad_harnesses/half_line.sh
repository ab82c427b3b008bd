#!/bin/sh
# Exits in the middle of an answer.
. "$(dirname "$0")/common.sh"
answer() {
    if [ "$value" = 5 ]; then
        printf "{\"seq\":%s,\"resu" "$seq"
        exit 0
    fi
    honest
}
serve
