#!/bin/sh
# Declares thousands of unknown functions.
. "$(dirname "$0")/common.sh"
start() {
    functions='"nonesuch"'
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
        functions="$functions,$functions"
    done
    echo "{\"version\":1,\"implementation\":{\"name\":\"bad\",\"version\":\"1\",\"rules\":[\"numpy\"],\"operations\":[\"elementwise\"],\"functions\":[$functions],\"dtypes\":[\"i32\"]}}"
}
serve
