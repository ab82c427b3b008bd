#!/bin/sh
# Makes one element at most, of rank 1 at most, and dies of more.
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
