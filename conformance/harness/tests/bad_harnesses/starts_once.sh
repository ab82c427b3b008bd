#!/bin/sh
# Starts once, exits, and never starts again. The file in $1 records the first start.
. "$(dirname "$0")/common.sh"
mark=$1
start() {
    [ -e "$mark" ] && exit 9
    : >"$mark"
    echo "{\"version\":1,\"implementation\":{\"name\":\"bad\",\"version\":\"1.0\",\"rules\":[\"numpy\"],\"operations\":[\"elementwise\"],\"functions\":[\"add\"],\"dtypes\":[\"i32\"],\"window\":1}}"
}
answer() {
    [ "$value" = 5 ] && exit 3
    honest
}
serve
