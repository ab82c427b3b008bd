#!/bin/sh
# Answers one case with an endless line.
. "$(dirname "$0")/common.sh"
answer() {
    if [ "$value" = 5 ]; then
        tr "\0" x </dev/zero
    fi
    honest
}
serve
