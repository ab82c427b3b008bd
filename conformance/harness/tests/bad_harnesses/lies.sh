#!/bin/sh
# Declares i32, but answers one case with skipped.
. "$(dirname "$0")/common.sh"
answer() {
    if [ "$value" = 5 ]; then
        echo "{\"seq\":$seq,\"skipped\":{\"reason\":\"no i32 after all\"}}"
    else
        honest
    fi
}
serve
