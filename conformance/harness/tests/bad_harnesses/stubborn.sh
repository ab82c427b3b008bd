#!/bin/sh
# Hangs in one case, and ignores polite signals; writes its process id to the file named by the first argument.
. "$(dirname "$0")/common.sh"
trap "" TERM INT HUP
echo $$ >"$1"
answer() {
    while [ "$value" = 5 ]; do
        sleep 1
    done
    honest
}
serve
