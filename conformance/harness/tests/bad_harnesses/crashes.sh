#!/bin/sh
# Is killed by a signal in one case.
. "$(dirname "$0")/common.sh"
answer() {
    [ "$value" = 5 ] && kill -s SEGV $$
    honest
}
serve
