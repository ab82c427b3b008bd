#!/bin/sh
# Exits before it answers start.
. "$(dirname "$0")/common.sh"
start() {
    echo "a module is missing" >&2
    exit 7
}
serve
