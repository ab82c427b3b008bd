#!/bin/sh
# Every answer is too large by one.
. "$(dirname "$0")/common.sh"
answer() {
    value=$((value + 1))
    honest
}
serve
