#!/bin/sh
# Answers one case only after the next.
. "$(dirname "$0")/common.sh"
answer() {
    if [ "$value" = 5 ]; then
        held=$seq
        return
    fi
    honest
    if [ -n "$held" ]; then
        seq=$held
        value=5
        held=
        honest
    fi
}
serve
