#!/bin/sh
# Answers one case with NaN, which is not JSON.
. "$(dirname "$0")/common.sh"
answer() {
    [ "$value" = 5 ] && value=NaN
    honest
}
serve
