#!/bin/sh
# Always wrong: one too much.
. "$(dirname "$0")/common.sh"
answer() {
    value=$((value + 1))
    honest
}
serve
