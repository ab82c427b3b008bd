#!/bin/sh
# The values are right, but the answer to 3 has an intermediate and the answer to 5 has flags, which the request does not
# have.
. "$(dirname "$0")/common.sh"
answer() {
    case $value in
    3) more=',"intermediate":{"shape":[1],"values":[3]}' ;;
    5) more=',"broadcastable":[true]' ;;
    *) more='' ;;
    esac
    echo "{\"seq\":$seq,\"result\":{\"dtype\":\"i32\",\"shape\":[1],\"values\":[$value]$more}}"
}
serve
