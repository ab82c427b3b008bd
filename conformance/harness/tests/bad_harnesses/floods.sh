#!/bin/sh
# Answers one case without end.
. "$(dirname "$0")/common.sh"
answer() {
    while [ "$value" = 5 ]; do
        honest
    done
    honest
}
serve
