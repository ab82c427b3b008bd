# Part of fuzz/overnight: sorts the inputs that the engine left into one directory per signature.
#
#   findings/TARGET/SIGNATURE/{artifacts,output} and the case file, if the input is a request

# At most this many inputs of a target are processed at a time, because each is a process.
most_inputs=1000

findings_of() {
    find "$out/findings/$1" -mindepth 1 -maxdepth 1 -type d 2>/dev/null | sort
}

all_findings() {
    local target
    for target in "${targets[@]}"; do findings_of "$target"; done
}

# The signature of a failure in one line, from the output of a target: the oracle's message, else the location of the
# panic, else the message of the engine or the sanitizer.
signature() {
    local target=$1 output=$2
    sed -n "s/^$target: //p" "$output" | head -n 1 | grep . ||
        sed -n 's/.* panicked at \([^ ]*\):[0-9]*:$/panic at \1/p' "$output" | head -n 1 | grep . ||
        sed -n 's/^SUMMARY: //p' "$output" | sed 's/0x[0-9a-f]*/0x…/g' | head -n 1 | grep . ||
        echo 'a failure that could not be reproduced'
}

# A short directory name for a signature, without numbers, which differ from input to input.
slug() {
    local words
    words=$(printf '%s' "$1" | tr 'A-Z' 'a-z' | sed 's/[0-9][0-9]*/n/g' | tr -c 'a-z' '-' | tr -s '-')
    words=${words#-}
    words=${words:0:80}
    echo "${words%-}"
}

collect_findings() {
    local target artifact output name directory seen
    output=$out/output
    for target in "${targets[@]}"; do
        seen=0
        while read -r artifact; do
            # Collected after an earlier turn.
            ! cat "$out/findings/$target"/*/artifacts 2>/dev/null | grep -qxF -- "$artifact" || continue
            seen=$((seen + 1))
            if [ $seen -gt $most_inputs ]; then
                say "$target: more than $most_inputs inputs; ignoring the rest"
                break
            fi
            ASAN_OPTIONS=${ASAN_OPTIONS:-detect_odr_violation=0} timeout 120 \
                "$(binary "$target")" -timeout=20 -rss_limit_mb=2048 "-artifact_prefix=$out/" "$artifact" >"$output" 2>&1
            name=$(signature "$target" "$output")
            directory=$out/findings/$target/$(slug "$name")
            # The list of inputs is written last, so that a finding that a kill cut off is completed.
            if [ ! -e "$directory/artifacts" ]; then
                say "$target: a finding: $name"
                mkdir -p "$directory"
                printf '%s\n' "$name" >"$directory/signature"
                cp "$output" "$directory/output"
                reproduce "$target" "$artifact" "$directory"
            fi
            printf '%s\n' "$artifact" >>"$directory/artifacts"
            sort -u -o "$directory/artifacts" "$directory/artifacts"
        done < <(find "fuzz/artifacts/$target" -type f -newer "$state/began" 2>/dev/null | sort)
    done
    rm -f "$output" "$out"/{crash,timeout,oom,leak}-*
}

# Writes the shrunk request as a case file, if the input is a request. If it shrinks to a case that exists already, it
# is the same finding, and its directory becomes a link to the first one's.
reproduce() {
    local target=$1 artifact=$2 directory=$3 case same
    "$command" reproduce "$target" "$artifact" --out "$directory" >"$directory/reproduced" 2>&1
    # Status 2: the target takes bytes, not requests.
    [ $? -ne 2 ] || rm -f "$directory/reproduced"
    case=$(find "$directory" -name '*.yaml' | head -n 1)
    [ -n "$case" ] || return 0
    same=$(find "$out/findings/$target" -mindepth 2 -type f -name "${case##*/}" ! -path "$directory/*" | head -n 1)
    if [ -n "$same" ]; then
        rm -rf "$directory"
        same=${same%/*}
        ln -s "${same##*/}" "$directory"
    fi
}

describe_findings() {
    local directory target count case
    for target in "${targets[@]}"; do
        while read -r directory; do
            [ -n "$directory" ] || continue
            count=$(wc -l <"$directory/artifacts")
            printf '\n- **%s**: %s\n' "$target" "$(cat "$directory/signature")"
            printf '  %s, for one `%s`\n' "$([ "$count" -eq 1 ] && echo '1 input' || echo "$count inputs")" \
                "$(head -n 1 "$directory/artifacts")"
            case=$(find "$directory" -name '*.yaml' | head -n 1)
            if [ -n "$case" ]; then
                printf '  case: `%s`\n' "$case"
            else
                printf '  output: `%s`\n' "$directory/output"
            fi
        done < <(findings_of "$target")
    done
}
