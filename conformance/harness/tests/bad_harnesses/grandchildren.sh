#!/bin/sh
# Exits and leaves a child that keeps its output open. Writes the process id of the child to the file in $1.
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
