#!/bin/sh
# Hangs in one case and ignores signals other than KILL. Writes its process id to the file in $1, and a second line when it
# comes to that case.
. "$(dirname "$0")/common.sh"
trap "" TERM INT HUP
file=$1
echo $$ >"$file"
answer() {
    if [ "$value" = 5 ]; then
        echo hangs >>"$file"
        while :; do sleep 1; done
    fi
    honest
}
serve
