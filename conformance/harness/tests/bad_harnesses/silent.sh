#!/bin/sh
# Never answers start.
. "$(dirname "$0")/common.sh"
start() {
    while :; do sleep 1; done
}
serve
