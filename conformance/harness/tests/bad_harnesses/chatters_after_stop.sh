#!/bin/sh
# Says one more thing after stop.
. "$(dirname "$0")/common.sh"
stop() {
    echo "goodbye"
    exit 0
}
serve
