#!/bin/sh
# Prints another line after stop.
. "$(dirname "$0")/common.sh"
stop() {
    echo "goodbye"
    exit 0
}
serve
