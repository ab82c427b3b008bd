#!/bin/sh
# Never answers one case.
. "$(dirname "$0")/common.sh"
answer() {
    if [ "$value" = 5 ]; then
        while :; do sleep 1; done
    fi
    honest
}
serve
