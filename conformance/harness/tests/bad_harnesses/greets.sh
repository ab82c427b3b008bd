#!/bin/sh
# Prints a greeting before its answer to `start`.
. "$(dirname "$0")/common.sh"

echo "bad 1.0, at your service"
serve
