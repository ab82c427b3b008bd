#!/bin/sh
# Answers one case and exits before it reads the next. Its window is 1.
. "$(dirname "$0")/common.sh"
start() {
    echo '{"version":1,"implementation":{"name":"bad","version":"1.0","rules":["numpy"],"operations":["elementwise"],"functions":["add"],"dtypes":["i32"],"window":1}}'
}
answer() {
    honest
    [ "$value" = 5 ] && exit 3
}
serve
