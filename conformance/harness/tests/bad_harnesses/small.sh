#!/bin/sh
# Declares at most one element and rank 1, and exits on larger requests.
. "$(dirname "$0")/common.sh"
start() {
    echo '{"version":1,"implementation":{"name":"bad","version":"1.0","rules":["numpy"],"operations":["elementwise"],"functions":["add"],"dtypes":["i32"],"max_rank":1,"max_elements":1}}'
}
answer() {
    case $line in
    *'"shape":[1],'*) honest ;;
    *) exit 3 ;;
    esac
}
serve
