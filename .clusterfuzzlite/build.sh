#!/bin/bash -eu
# Builds every fuzz target into $OUT, with its seeds in a zip file beside it, as ClusterFuzzLite and OSS-Fuzz require.
# Their container sets SRC, OUT and SANITIZER. The script also runs outside a container, which is how CI tests it. With
# a stable compiler it leaves out the sanitizer:
#
#   OUT=$(mktemp -d) .clusterfuzzlite/build.sh
#
# If BROADCHECK names a built command, by its path from the top of the checkout, it writes the seeds and no other is built.
if [ -n "${SRC:-}" ]; then
    cd "$SRC/broadcheck"
else
    cd "$(dirname "$0")/.."
fi
: "${OUT:?found no OUT, expected the directory for the targets}"
build=${BUILD_DIR:-$PWD/target/clusterfuzzlite}

sanitizer=${SANITIZER:-address}
# For coverage, the base image sets RUSTFLAGS, and cargo-fuzz must not add anything.
if [ "$sanitizer" = coverage ] || ! rustc --version | grep -q nightly; then
    sanitizer=none
fi

# As `cargo fuzz run` builds them: optimised, with assertions and overflow checks.
cargo fuzz build --sanitizer "$sanitizer" --release --debug-assertions --target-dir "$build"

# The command that writes the seeds is not a fuzz target, so it is built without instrumentation.
command=${BROADCHECK:-$build/command/release/broadcheck}
if [ -z "${BROADCHECK:-}" ]; then
    env -u RUSTFLAGS cargo build --quiet --release --target-dir "$build/command" -p broadcheck-cli
fi
seeds=$(mktemp -d)
"$command" seeds --out "$seeds" >/dev/null

host=$(rustc -vV | sed -n 's/^host: //p')
for target in $(cargo fuzz list); do
    cp "$build/$host/release/$target" "$OUT/"
    if [ -d "$seeds/$target" ]; then
        (cd "$seeds/$target" && python3 -m zipfile -c "$OUT/${target}_seed_corpus.zip" .)
    fi
done
rm -rf "$seeds"
