#!/bin/sh
# Repeats a field of its answer to `start`.
. "$(dirname "$0")/common.sh"
start() {
    echo '{"version":1,"implementation":{"name":"bad","version":"1.0","rules":["none"],"rules":["numpy"],"operations":["elementwise"],"functions":["add"],"dtypes":["i32"]}}'
}
serve
