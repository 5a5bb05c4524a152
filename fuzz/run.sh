#!/usr/bin/env bash
# Searches with the fuzz targets: fuzz/run.sh [SECONDS [TARGET...]], 60 seconds for each target where nothing is said.
# It builds them (a nightly toolchain, cargo-fuzz), begins with what `seeds` makes and the committed corpora, and prints a
# table of what was run: edges after an eighth, a quarter, a half and all of the time, features at the end. What is found
# stays in fuzz/inputs below the target directory, so that the next search goes on there; an input that breaks a promise
# goes to fuzz/artifacts there, and the script then ends with 1.
#   FUZZ_SANITIZER=address   with a sanitizer (else without: no unsafe code is ours)
#   FUZZ_BUILT=1             takes the targets as they were built last
#   FUZZ_INPUTS=FOLDER       goes on from the inputs in that folder, and leaves those that it finds there
#   FUZZ_KEEP=1              ends with fuzz/keep.sh, which takes few inputs with the same edges into fuzz/corpus
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
shift || true
folder=${CARGO_TARGET_DIR:-$PWD/target}/fuzz
built=$folder/x86_64-unknown-linux-gnu/release
inputs=${FUZZ_INPUTS:-$folder/inputs}
mkdir -p "$folder/artifacts"
targets=("$@")
if [ $# = 0 ]; then
    for file in fuzz/fuzz_targets/*.rs; do targets+=("$(basename "$file" .rs)"); done
fi

[ "${FUZZ_BUILT:-}" = 1 ] || cargo build --quiet --locked -p ilo-fuzz --no-default-features --bin seeds
seeds=${CARGO_TARGET_DIR:-$PWD/target}/debug/seeds
# Linking in one piece would take longer than it gains.
export CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16
if [ "${FUZZ_BUILT:-}" != 1 ]; then
    # One by one: what is no target does not link with what a target is instrumented with. Those that need no host are
    # built without it, which takes a fifth of the time.
    for target in "${targets[@]}"; do
        host=(--no-default-features)
        case $target in json | tools_file | mcp_answer | mcp_messages) host=() ;; esac
        CARGO_TARGET_DIR=$folder RUSTUP_TOOLCHAIN=nightly cargo fuzz build -s "${FUZZ_SANITIZER:-none}" \
            "${host[@]}" --features fuzzing "$target" >&2
    done
fi

# The last edges and features that were told at most so many seconds after the first line: at SECONDS FILE.
at() {
    awk -v limit="$1" 'NR == 1 { begin = $1 } $1 - begin <= limit && match($0, /cov: [0-9]+ ft: [0-9]+/) {
        split(substr($0, RSTART, RLENGTH), parts, " "); edges = parts[2]; features = parts[4]
    } END { print edges + 0, features + 0 }' "$2"
}

echo '| target | seconds | executions | edges at 1/8 | 1/4 | 1/2 | all | features | inputs |'
echo '|---|---|---|---|---|---|---|---|---|'
failed=0
for target in "${targets[@]}"; do
    work=$inputs/$target
    log=$folder/$target.log
    "$seeds" "$target" "$work" "$folder/$target.dict"
    # A time before every line, for the curve.
    { "$built/$target" "$work" -dict="$folder/$target.dict" -max_len=4096 -max_total_time="$seconds" -timeout=20 \
        -rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix="$folder/artifacts/$target-" 2>&1 || echo FAILED; } |
        while IFS= read -r line; do printf '%s %s\n' "$EPOCHSECONDS" "$line"; done >"$log"
    if grep -aq ' FAILED$' "$log"; then
        failed=1
        echo "$target broke a promise: see $log" >&2
    fi
    executions=$(awk '/stat::number_of_executed_units/ { print $3 }' "$log")
    read -r eighth _ < <(at $((seconds / 8)) "$log")
    read -r quarter _ < <(at $((seconds / 4)) "$log")
    read -r half _ < <(at $((seconds / 2)) "$log")
    read -r edges features < <(at $((seconds * 2 + 60)) "$log")
    inputs=$(find "$work" -type f | wc -l)
    echo "| \`$target\` | $seconds | ${executions:-?} | $eighth | $quarter | $half | $edges | $features | $inputs |"
done
[ "${FUZZ_KEEP:-}" != 1 ] || fuzz/keep.sh "${targets[@]}"
exit $failed
