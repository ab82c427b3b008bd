#!/bin/sh
# Answers one case with errored.
. "$(dirname "$0")/common.sh"
answer() {
    if [ "$value" = 5 ]; then
        echo "{\"seq\":$seq,\"errored\":{\"message\":\"out of luck\"}}"
    else
        honest
    fi
}
serve
