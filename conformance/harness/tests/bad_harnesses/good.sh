#!/bin/sh
# Does nothing wrong.
. "$(dirname "$0")/common.sh"

serve
