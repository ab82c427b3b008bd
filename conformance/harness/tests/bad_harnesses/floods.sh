#!/bin/sh
# Answers one case again and again.
. "$(dirname "$0")/common.sh"
answer() {
    while [ "$value" = 5 ]; do
        honest
    done
    honest
}
serve
