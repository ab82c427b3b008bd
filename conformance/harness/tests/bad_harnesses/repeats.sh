#!/bin/sh
# Answers one case twice.
. "$(dirname "$0")/common.sh"
answer() {
    honest
    [ "$value" = 5 ] && honest
}
serve
