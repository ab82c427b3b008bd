#!/bin/sh
# Is killed by a signal at every value among its arguments after the first. Adds a line to the file $1 at each start.
. "$(dirname "$0")/common.sh"
echo start >>"$1"
shift
values=" $* "
answer() {
    case $values in
    *" $value "*) kill -s ABRT $$ ;;
    esac
    honest
}
serve
