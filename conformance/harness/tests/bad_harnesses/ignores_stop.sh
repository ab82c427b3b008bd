#!/bin/sh
# Ignores stop, the end of its input and signals other than KILL. Writes its process id to the file in $1.
. "$(dirname "$0")/common.sh"
trap "" TERM INT HUP
echo $$ >"$1"
stop() {
    while :; do sleep 1; done
}
serve
