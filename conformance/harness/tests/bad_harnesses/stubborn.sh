#!/bin/sh
# Hangs in one case and ignores signals other than KILL. Writes its process id to the file in $1.
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
