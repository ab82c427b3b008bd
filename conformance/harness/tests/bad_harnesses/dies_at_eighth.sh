#!/bin/sh
# Is killed by a signal at the eighth request of a process, whatever it is. Adds a line to the file $1 at each start.
. "$(dirname "$0")/common.sh"
echo start >>"$1"
answer() {
    [ "$seq" = 8 ] && kill -s ABRT $$
    honest
}
serve
