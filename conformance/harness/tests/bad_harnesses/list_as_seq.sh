#!/bin/sh
# Answers one case with a list as seq.
. "$(dirname "$0")/common.sh"
answer() {
    if [ "$value" = 5 ]; then
        seq='[0,0,0]'
    fi
    honest
}
serve
