# Part of fuzz/overnight: schedules the targets, runs them, and reads their logs.
#
# The totals of all turns are kept in files, so that an interrupted run can continue where it stopped:
#   state/TARGET.seconds .executions .coverage .before (inputs in the corpus when the run began)

state=$out/state logs=$out/logs
command=${CARGO_TARGET_DIR:-target}/release/broadcheck
engine_options=(-ignore_crashes=1 -ignore_timeouts=1 -ignore_ooms=1 -timeout=20 -rss_limit_mb=2048)

# state_of TARGET KEY, or 0.
state_of() {
    local value=0
    [ ! -f "$state/$1.$2" ] || read -r value <"$state/$1.$2"
    echo "$value"
}

# keep TARGET KEY VALUE. A kill leaves the old value or the new one.
keep() {
    printf '%s\n' "$3" >"$state/$1.$2.draft" && mv -f "$state/$1.$2.draft" "$state/$1.$2"
}

inputs() {
    find "fuzz/corpus/$1" -type f 2>/dev/null | wc -l
}

prepare() {
    cargo fuzz --version >/dev/null 2>&1 || fail "cargo-fuzz is not installed: cargo install cargo-fuzz"
    local nightly=no
    cargo +nightly --version >/dev/null 2>&1 && nightly=yes
    [ -n "$sanitizer" ] || { [ $nightly = yes ] && sanitizer=address || sanitizer=none; }
    if [ $sanitizer = address ] && [ $nightly = no ]; then
        fail "--sanitizer address needs a nightly compiler (rustup toolchain install nightly), or use --sanitizer none"
    fi
    cargo=(cargo)
    [ $nightly = no ] || cargo=(cargo +nightly)

    local known
    mapfile -t known < <(cargo fuzz list)
    [ ${#known[@]} -gt 0 ] || fail "cargo fuzz list names no target"
    [ ${#targets[@]} -gt 0 ] || targets=("${known[@]}")
    local target
    for target in "${targets[@]}"; do
        [[ " ${known[*]} " == *" $target "* ]] || fail "found the target '$target', expected one of ${known[*]}"
    done

    mkdir -p "$out" || exit 2
    exec 8>"$out/lock"
    flock -n 8 || fail "another run is under way in $out"
    # An unfinished run with the same settings is continued.
    local plan="$total $sanitizer ${targets[*]}"
    if [ $fresh = no ] && [ -f "$out/unfinished" ] && [ "$(cat "$out/unfinished")" = "$plan" ]; then
        say "continuing the unfinished run of $(date -r "$state/began" '+%F %H:%M')"
    else
        rm -rf "$state" "$logs" "$out/findings"
        mkdir -p "$state" && : >"$state/began"
    fi
    mkdir -p "$state" "$logs" "$out/findings" || exit 2
    # A kill leaves the file as it was, or whole.
    echo "$plan" >"$out/unfinished.draft" && mv -f "$out/unfinished.draft" "$out/unfinished"

    cargo build --release --quiet -p broadcheck-cli || fail "the command does not build"
    for target in "${targets[@]}"; do
        say "building $target (sanitizer: $sanitizer)"
        "${cargo[@]}" fuzz build --sanitizer "$sanitizer" --target-dir "$out/build" "$target" \
            >"$logs/$target.build" 2>&1 || fail "$target does not build: see $logs/$target.build"
        mkdir -p "fuzz/corpus/$target" "fuzz/artifacts/$target"
    done
    # Existing inputs of the corpus are kept.
    "$command" seeds --out fuzz/corpus >"$logs/seeds" 2>&1 || fail "the seeds could not be written: see $logs/seeds"
    for target in "${targets[@]}"; do
        [ -f "$state/$target.before" ] || keep "$target" before "$(inputs "$target")"
    done
}

binary() {
    local triple
    triple=$("${cargo[@]}" -vV | sed -n 's/^host: //p')
    echo "$out/build/$triple/release/$1"
}

# Sets turn_target and turn_seconds: the target that has used the least of its share, and how long it runs.
choose_turn() {
    local share=$((total / ${#targets[@]})) target spent least=
    [ $share -gt 0 ] || share=1
    for target in "${targets[@]}"; do
        spent=$(state_of "$target" seconds)
        if [ "$spent" -lt $share ] && { [ -z "$least" ] || [ "$spent" -lt "$least" ]; }; then
            least=$spent turn_target=$target
        fi
    done
    [ -n "$least" ] || return 1
    turn_seconds=$((share - least))
    [ $turn_seconds -le "$slice" ] || turn_seconds=$slice
}

# Runs a command of the engine in a separate process group, so that one signal ends all of it.
engine() {
    local log=$1
    shift
    ASAN_OPTIONS=${ASAN_OPTIONS:-detect_odr_violation=0} setsid "$@" >"$log" 2>&1 8>&- &
    child=$!
    # A signal to this script ends the first wait; the second waits for the engine.
    wait "$child" || wait "$child"
    child=''
}

run_turn() {
    local target=$turn_target log began=$SECONDS
    log=$logs/$target.$(date +%s).log
    say "$target for $turn_seconds s"
    engine "$log" "$(binary "$target")" "fuzz/corpus/$target" "-artifact_prefix=fuzz/artifacts/$target/" \
        "-fork=$jobs" "-max_total_time=$turn_seconds" "${engine_options[@]}"
    local spent=$((SECONDS - began)) executions coverage
    # The engine's last line of progress: "#12345: cov: 678 ft: 910 corp: 11 exec/s: 1213 ...".
    read -r executions coverage < <(sed -n 's/^#\([0-9]*\): cov: \([0-9]*\) .*/\1 \2/p' "$log" | tail -n 1)
    if [ -z "${executions:-}" ]; then
        [ $interrupted = no ] || return 0
        fail "$target ran nothing: see $log"
    fi
    [ $spent -gt 0 ] || spent=1
    keep "$target" seconds $(($(state_of "$target" seconds) + spent))
    keep "$target" executions $(($(state_of "$target" executions) + executions))
    keep "$target" coverage "$coverage"
}

# Removes inputs that add nothing to the coverage. An interrupted merge leaves the corpus unchanged.
merge_corpora() {
    local target merged
    for target in "${targets[@]}"; do
        [ $interrupted = no ] || return 0
        merged=$out/merged-$target
        rm -rf "$merged" && mkdir -p "$merged"
        keep "$target" grown "$(inputs "$target")"
        say "merging the corpus of $target"
        engine "$logs/$target.merge" "$(binary "$target")" -merge=1 "$merged" "fuzz/corpus/$target" \
            "-artifact_prefix=fuzz/artifacts/$target/" -timeout=20 -rss_limit_mb=2048
        if [ $interrupted = no ] && [ "$(find "$merged" -type f | wc -l)" -gt 0 ]; then
            rm -rf "$out/replaced" && mv "fuzz/corpus/$target" "$out/replaced" &&
                mv "$merged" "fuzz/corpus/$target" && rm -rf "$out/replaced"
        fi
        rm -rf "$merged"
    done
    [ $interrupted = yes ] || rm -f "$out/unfinished"
}
