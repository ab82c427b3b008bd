# Part of fuzz/overnight: writes the report, target/overnight/report.md, and sets the exit status.

# 5025 as 1 h 23 min.
duration() {
    if [ "$1" -ge 3600 ]; then
        printf '%d h %02d min' $(($1 / 3600)) $(($1 % 3600 / 60))
    elif [ "$1" -ge 60 ]; then
        printf '%d min %02d s' $(($1 / 60)) $(($1 % 60))
    else
        printf '%d s' "$1"
    fi
}

# The table: a row per target, and the totals.
table() {
    local target seconds executions rate sum_seconds=0 sum_executions=0
    printf '| target | time | executions | per second | coverage (edges) | corpus before | grown to | merged to | findings |\n'
    printf '|---|---|---|---|---|---|---|---|---|\n'
    for target in "${targets[@]}"; do
        seconds=$(state_of "$target" seconds) executions=$(state_of "$target" executions)
        rate=$((seconds > 0 ? executions / seconds : 0))
        sum_seconds=$((sum_seconds + seconds)) sum_executions=$((sum_executions + executions))
        if [ -f "$out/unfinished" ]; then
            grown=$(inputs "$target") merged='not yet'
        else
            grown=$(state_of "$target" grown) merged=$(inputs "$target")
        fi
        printf '| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n' "$target" "$(duration "$seconds")" "$executions" "$rate" \
            "$(state_of "$target" coverage)" "$(state_of "$target" before)" "$grown" "$merged" \
            "$(findings_of "$target" | wc -l)"
    done
    printf '| all | %s | %s | %s | | | | | %s |\n' "$(duration $sum_seconds)" $sum_executions \
        $((sum_seconds > 0 ? sum_executions / sum_seconds : 0)) "$(all_findings | wc -l)"
}

page() {
    local found
    found=$(all_findings | wc -l)
    printf '# Fuzzing, %s to %s\n\n' "$(date -r "$state/began" '+%F %H:%M')" "$(date '+%F %H:%M')"
    if [ "$found" -eq 0 ]; then
        printf '**Nothing was found.**'
    else
        printf '**%s: see below.**' "$([ "$found" -eq 1 ] && echo '1 finding' || echo "$found findings")"
    fi
    if [ -f "$out/unfinished" ]; then
        printf ' The run was interrupted: the same command continues it.'
    fi
    printf '\n\n%s on %s, sanitizer: %s, %s processes per target, %s planned.\n\n' \
        "$("${cargo[@]}" -V | sed 's/ (.*//; s/^cargo/Rust/')" "$(uname -m)" "$sanitizer" "$jobs" "$(duration "$total")"
    table
    if [ "$found" -gt 0 ]; then
        printf '\n## Findings\n\nOne per signature. To reproduce one: `broadcheck reproduce TARGET ARTIFACT`.\n'
        describe_findings
    fi
}

write_report() {
    page >"$out/report.md"
    printf '\n'
    cat "$out/report.md"
    say "report: $out/report.md"
    [ "$(all_findings | wc -l)" -eq 0 ] || exit 1
    exit 0
}
