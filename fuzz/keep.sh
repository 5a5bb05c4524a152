#!/usr/bin/env bash
# Takes what fuzz/run.sh found into fuzz/corpus: fuzz/keep.sh [TARGET...]. Of each target's inputs, what `seeds` makes
# left out, libFuzzer picks a small set that reaches the same edges; of these the smallest are kept, at most
# FUZZ_KEEP_BYTES (100,000) of a target and FUZZ_KEEP_FILES (200).
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${CARGO_TARGET_DIR:-$PWD/target}/fuzz
built=$folder/x86_64-unknown-linux-gnu/release
targets=("$@")
if [ $# = 0 ]; then
    for file in fuzz/fuzz_targets/*.rs; do targets+=("$(basename "$file" .rs)"); done
fi
for target in "${targets[@]}"; do
    [ -d "$folder/inputs/$target" ] || continue
    first=$folder/first/$target found=$folder/found/$target
    rm -rf "$first" "$found"
    mkdir -p "$first" "$found" "fuzz/corpus/$target"
    cp "$folder/inputs/$target"/seed-* "$first" 2>/dev/null || true
    # What the seeds reach goes first, so that only what reaches more is taken on top of it.
    cp -r "$first/." "$found"
    before=$(find "$found" -type f | wc -l)
    "$built/$target" -set_cover_merge=1 -timeout=20 -rss_limit_mb=2048 "$found" "$folder/inputs/$target" >"$folder/$target-keep.log" 2>&1
    size=0 files=0
    while read -r bytes path; do
        case $(basename "$path") in seed-*) continue ;; esac
        size=$((size + bytes)) files=$((files + 1))
        if [ $size -gt "${FUZZ_KEEP_BYTES:-100000}" ] || [ $files -gt "${FUZZ_KEEP_FILES:-200}" ]; then break; fi
        cp "$path" "fuzz/corpus/$target/"
    done < <(find "$found" -type f -printf '%s %p\n' | sort -n)
    echo "$target: $(find "$found" -type f | wc -l) with $before first, $(find "fuzz/corpus/$target" -type f | wc -l) kept"
done
