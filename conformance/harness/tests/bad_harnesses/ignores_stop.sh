#!/bin/sh
# Ignores stop, the end of its input and polite signals; writes its process id to the file named by the first argument.
. "$(dirname "$0")/common.sh"
trap "" TERM INT HUP
echo $$ >"$1"
stop() {
    while :; do sleep 1; done
}
serve
