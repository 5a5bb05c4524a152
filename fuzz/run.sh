#!/usr/bin/env bash
# Searches with the fuzz targets: fuzz/run.sh [SECONDS [TARGET...]], 60 seconds for each target by default. Builds them
# (needs a nightly toolchain and cargo-fuzz), starts from what `seeds` makes and from fuzz/corpus, and prints a table:
# executions, edges after an eighth, a quarter, a half and all of the time, features at the end. Inputs that it finds stay
# in fuzz/found, where the next search continues; an input that breaks a promise goes to fuzz/artifacts, and the script exits
# with 1. Git ignores both folders.
#   FUZZ_SANITIZER=address   builds with a sanitizer (none by default: the workspace has no unsafe code)
#   FUZZ_BUILT=1             takes the targets as they were built last
#   FUZZ_FOUND=FOLDER        a folder outside the repository, or one that git ignores, instead of fuzz/found
#   FUZZ_KEEP=1              runs fuzz/choose_inputs.sh at the end, which reduces what was found into fuzz/corpus
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
shift || true
folder=${CARGO_TARGET_DIR:-$PWD/target}/fuzz
built=$folder/x86_64-unknown-linux-gnu/release
found=${FUZZ_FOUND:-fuzz/found}
mkdir -p fuzz/artifacts "$found"
# What a search finds must not land in a commit.
if git -C "$found" rev-parse --is-inside-work-tree >/dev/null 2>&1 && ! git check-ignore -q "$found/."; then
    echo "$found is in the repository and git does not ignore it" >&2
    exit 2
fi
targets=("$@")
if [ $# = 0 ]; then
    for file in fuzz/fuzz_targets/*.rs; do targets+=("$(basename "$file" .rs)"); done
fi

[ "${FUZZ_BUILT:-}" = 1 ] || cargo build --quiet --locked -p ilo-fuzz --no-default-features --bin seeds
seeds=${CARGO_TARGET_DIR:-$PWD/target}/debug/seeds
# Fat LTO would take longer to build than a search gains.
export CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16
if [ "${FUZZ_BUILT:-}" != 1 ]; then
    # One by one: binaries that are not targets do not link with the instrumentation. Targets that do not need the host
    # are built without it, which takes a fifth of the time.
    for target in "${targets[@]}"; do
        host=(--no-default-features)
        case $target in json | tools_file | mcp_answer | mcp_messages) host=() ;; esac
        CARGO_TARGET_DIR=$folder RUSTUP_TOOLCHAIN=nightly cargo fuzz build -s "${FUZZ_SANITIZER:-none}" \
            "${host[@]}" --features fuzzing "$target" >&2
    done
fi

# The last edges and features that were printed within this number of seconds after the first line: at SECONDS FILE.
at() {
    awk -v limit="$1" 'NR == 1 { begin = $1 } $1 - begin <= limit && match($0, /cov: [0-9]+ ft: [0-9]+/) {
        split(substr($0, RSTART, RLENGTH), parts, " "); edges = parts[2]; features = parts[4]
    } END { print edges + 0, features + 0 }' "$2"
}

echo '| target | seconds | executions | edges at 1/8 | 1/4 | 1/2 | all | features | inputs |'
echo '|---|---|---|---|---|---|---|---|---|'
failed=0
for target in "${targets[@]}"; do
    work=$found/$target
    log=$folder/$target.log
    "$seeds" "$target" "$work" "$folder/$target.dict"
    # Each line is prefixed with the time, for the growth of edges.
    { "$built/$target" "$work" -dict="$folder/$target.dict" -max_len=4096 -max_total_time="$seconds" -timeout=20 \
        -rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix="fuzz/artifacts/$target-" 2>&1 || echo FAILED; } |
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
[ "${FUZZ_KEEP:-}" != 1 ] || fuzz/choose_inputs.sh "${targets[@]}"
exit $failed
