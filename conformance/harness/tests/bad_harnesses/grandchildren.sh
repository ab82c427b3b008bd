#!/bin/sh
# Leaves a process behind that holds its output open and dies; the file named by the first argument has the process id.
. "$(dirname "$0")/common.sh"
file=$1
answer() {
    if [ "$value" = 5 ]; then
        sleep 1000 &
        echo $! >"$file"
        exit 3
    fi
    honest
}
serve
