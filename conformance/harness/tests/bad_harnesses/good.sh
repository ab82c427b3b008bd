#!/bin/sh
# Makes no mistake.
. "$(dirname "$0")/common.sh"

serve
