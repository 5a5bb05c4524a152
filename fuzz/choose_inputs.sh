#!/usr/bin/env bash
# Chooses the inputs of fuzz/corpus/TARGET.txt by coverage: fuzz/choose_inputs.sh [TARGET...], all targets by default.
#
# Candidates are the inputs that are there and those that fuzz/run.sh found (fuzz/found). What the tests run anyway comes
# first: what `seeds` makes of the conformance corpus, and the inputs in fuzz/corpus/TARGET, which have names and stay. Of
# the candidates a greedy set cover takes those that reach further edges. The row of a target gives the edges of what comes
# first, of all inputs, and of those that are kept.
#
# Needs the targets as fuzz/run.sh built them.
set -euo pipefail
cd "$(dirname "$0")/.."
targets=("$@")
if [ $# = 0 ]; then
    # Notations first: their inputs are among the seeds of others.
    targets=(id_text tool_calling constrained workflow mcp)
    for file in fuzz/fuzz_targets/*.rs; do
        case " ${targets[*]} " in *" $(basename "$file" .rs) "*) ;; *) targets+=("$(basename "$file" .rs)") ;; esac
    done
fi
cargo build --quiet --locked -p ilo-fuzz --no-default-features --bin seeds --bin choose-inputs
programs=${CARGO_TARGET_DIR:-$PWD/target}/debug
built=${CARGO_TARGET_DIR:-$PWD/target}/fuzz/x86_64-unknown-linux-gnu/release
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

echo '| target | edges at first | of all inputs | of those kept | candidates | kept |'
echo '|---|---|---|---|---|---|'
for target in "${targets[@]}"; do
    mkdir -p "$work/all" "$work/first" "$work/candidates"
    "$programs/seeds" "$target" "$work/all" "$work/words"
    find "$work/all" -name 'chosen-*' -exec mv -t "$work/candidates" {} +
    find "$work/all" -type f -exec mv -t "$work/first" {} +
    if [ -d "fuzz/found/$target" ]; then
        find "fuzz/found/$target" -type f ! -name '*-*' -exec cp -t "$work/candidates" {} +
    fi
    "$built/$target" -set_cover_merge=1 -merge_control_file="$work/control" -timeout=20 -rss_limit_mb=2048 \
        "$work/first" "$work/candidates" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
    "$programs/choose-inputs" "$target" "$work/control" "$work/candidates"
    rm -rf "${work:?}"/*
done
