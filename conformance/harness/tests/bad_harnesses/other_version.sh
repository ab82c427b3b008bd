#!/bin/sh
# Declares a version of the protocol that does not exist.
. "$(dirname "$0")/common.sh"
start() {
    echo "{\"version\":2,\"implementation\":{}}"
}
serve
