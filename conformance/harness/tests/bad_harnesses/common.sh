# Shared by the bad harnesses: a correct harness for requests `a + b` of one i32 each, where b is 0. Each script replaces
# `answer`, `start` or `stop`, to fail the case with the value 5.

# The answer to `start`.
start() {
    echo '{"version":1,"implementation":{"name":"bad","version":"1.0","language":"sh","rules":["numpy"],"operations":["elementwise"],"functions":["add"],"dtypes":["i32"]}}'
}

# The correct answer to the request $seq, whose value is $value.
honest() {
    echo "{\"seq\":$seq,\"result\":{\"dtype\":\"i32\",\"shape\":[1],\"values\":[$value]}}"
}

answer() {
    honest
}

stop() {
    exit 0
}

serve() {
    while read -r line; do
        case $line in
        *'"cmd":"start"'*) start ;;
        *'"cmd":"run"'*)
            seq=${line#*\"seq\":}
            seq=${seq%%[!0-9]*}
            value=${line#*\"values\":[}
            value=${value%%[!0-9]*}
            answer
            ;;
        *'"cmd":"stop"'*) stop ;;
        esac
    done
}
