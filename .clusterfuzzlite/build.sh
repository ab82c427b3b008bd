#!/bin/bash -eu
# Builds every fuzz target into $OUT, each with its seeds in a zip file beside it: what ClusterFuzzLite and OSS-Fuzz
# ask of a project. In their container SRC, OUT and SANITIZER are set. It runs without one as well, which is how CI
# exercises it; where the compiler is a stable one, the sanitizer is left out:
#
#   OUT=$(mktemp -d) .clusterfuzzlite/build.sh
if [ -n "${SRC:-}" ]; then
    cd "$SRC/broadcheck"
else
    cd "$(dirname "$0")/.."
fi
: "${OUT:?found no OUT, expected the directory to put the targets into}"
build=${BUILD_DIR:-$PWD/target/clusterfuzzlite}

sanitizer=${SANITIZER:-address}
# For coverage their base image sets RUSTFLAGS itself, and cargo-fuzz is to add nothing.
if [ "$sanitizer" = coverage ] || ! rustc --version | grep -q nightly; then
    sanitizer=none
fi

# As `cargo fuzz run` builds them: optimised, with assertions and overflow checks.
cargo fuzz build --sanitizer "$sanitizer" --release --debug-assertions --target-dir "$build"

# The command that writes the seeds is no fuzz target: it is built without instrumentation.
seeds=$(mktemp -d)
env -u RUSTFLAGS cargo run --quiet --release --target-dir "$build/command" -p broadcheck-cli -- seeds --out "$seeds" >/dev/null

host=$(rustc -vV | sed -n 's/^host: //p')
for target in $(cargo fuzz list); do
    cp "$build/$host/release/$target" "$OUT/"
    if [ -d "$seeds/$target" ]; then
        (cd "$seeds/$target" && python3 -m zipfile -c "$OUT/${target}_seed_corpus.zip" .)
    fi
done
rm -rf "$seeds"
