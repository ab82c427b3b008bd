#!/bin/sh
# Answers one case with a NaN that JSON does not have.
. "$(dirname "$0")/common.sh"
answer() {
    [ "$value" = 5 ] && value=NaN
    honest
}
serve
