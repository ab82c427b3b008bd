#!/bin/sh
# Declares unknown dtypes.
. "$(dirname "$0")/common.sh"
start() {
    echo "{\"version\":1,\"implementation\":{\"name\":\"bad\",\"version\":\"1\",\"rules\":[\"numpy\"],\"operations\":[\"elementwise\"],\"functions\":[\"add\"],\"dtypes\":[\"float64\"]}}"
}
serve
