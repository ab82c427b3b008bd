#!/bin/sh
# Says that it adds i32, and in one case that it does not.
. "$(dirname "$0")/common.sh"
answer() {
    if [ "$value" = 5 ]; then
        echo "{\"seq\":$seq,\"skipped\":{\"reason\":\"no i32 after all\"}}"
    else
        honest
    fi
}
serve
