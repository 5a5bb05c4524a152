#!/usr/bin/env bash
# Reduces fuzz/corpus to few inputs with the same coverage: fuzz/keep.sh [TARGET...], all targets by default.
#
# For each target the candidates are its inputs in fuzz/corpus and those that fuzz/run.sh found (fuzz/found). Inputs that
# the tests run anyway come first: what `seeds` makes of the conformance corpus, and inputs in fuzz/corpus whose names
# say what they are for, which are never removed. Of the others a greedy set cover keeps those that reach edges beyond
# that; their names are hashes. Prints the edges of each step, so that what a target loses shows (nothing).
#   FUZZ_KEEP_MOST    inputs of a target that have a hash for a name, at most (20); those that reach most are kept
# Needs the targets as fuzz/run.sh built them.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${CARGO_TARGET_DIR:-$PWD/target}/fuzz
built=$folder/x86_64-unknown-linux-gnu/release
seeds=${CARGO_TARGET_DIR:-$PWD/target}/debug/seeds
targets=("$@")
if [ $# = 0 ]; then
    # Notations first: their inputs are among the seeds of others.
    targets=(id_text tool_calling constrained workflow mcp)
    for file in fuzz/fuzz_targets/*.rs; do
        case " ${targets[*]} " in *" $(basename "$file" .rs) "*) ;; *) targets+=("$(basename "$file" .rs)") ;; esac
    done
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Of a control file of libFuzzer, the names of a small set of candidates that reach the edges which nothing else does.
# A feature is an edge with one of 8 ranges of counts, so a feature divided by 8 is an edge.
cover() {
    awk -v most="${FUZZ_KEEP_MOST:-20}" -v candidates="$work/candidates/" '
        NR == 1 { files = $1; next }
        NR <= 2 { next }
        NR <= files + 2 { name[NR - 3] = $0; next }
        $1 == "FT" {
            is_candidate = index(name[$2], candidates) == 1
            for (i = 3; i <= NF; i++) {
                edge = int($i / 8)
                all[edge]
                if (is_candidate) reach[$2, edge]; else covered[edge]
            }
            if (is_candidate) { ids[++count] = $2 }
        }
        END {
            for (edge in all) every += 1
            for (edge in covered) before += 1
            for (pair in reach) {
                split(pair, parts, SUBSEP)
                if (!(parts[2] in covered)) { left[parts[1]] = left[parts[1]] " " parts[2] }
            }
            now = before
            while (kept < most) {
                best = ""; best_count = 0
                for (i = 1; i <= count; i++) {
                    id = ids[i]
                    if (!(id in left)) continue
                    number = split(left[id], edges, " "); rest = ""; fresh = 0
                    for (j = 1; j <= number; j++) if (!(edges[j] in covered)) { rest = rest " " edges[j]; fresh += 1 }
                    if (fresh == 0) { delete left[id]; continue }
                    left[id] = rest
                    if (fresh > best_count) { best = id; best_count = fresh }
                }
                if (best == "") break
                number = split(left[best], edges, " ")
                for (j = 1; j <= number; j++) covered[edges[j]]
                delete left[best]
                now += best_count; kept += 1
                print name[best]
            }
            print every, before, now, kept > "/dev/stderr"
        }' "$1"
}

echo '| target | edges of seeds and named inputs | of all candidates | of what is kept | candidates | kept |'
echo '|---|---|---|---|---|---|'
for target in "${targets[@]}"; do
    corpus=fuzz/corpus/$target
    mkdir -p "$work/first" "$work/candidates" "$work/aside" "$corpus"
    find "$corpus" -maxdepth 1 -type f | while read -r file; do
        name=$(basename "$file")
        case ${name%.bin} in
            *[!0-9a-f]*) cp "$file" "$work/first/$name" ;;
            *) cp "$file" "$work/candidates/${name%.bin}" ;;
        esac
    done
    if [ -d "fuzz/found/$target" ]; then
        find "fuzz/found/$target" -maxdepth 1 -type f ! -name 'seed-*' ! -name 'kept-*' -exec cp -t "$work/candidates" {} +
    fi
    "$seeds" "$target" "$work/first" "$work/words"
    rm -f "$work/first"/kept-*
    # A name for each content, and no content twice.
    (cd "$work/first" && for file in *; do mv "$file" "$work/aside/$(sha1sum <"$file" | cut -c1-40)"; done)
    "$built/$target" -set_cover_merge=1 -merge_control_file="$work/control" -timeout=20 -rss_limit_mb=2048 \
        "$work/aside" "$work/candidates" >"$folder/$target-keep.log" 2>&1
    cover "$work/control" >"$work/chosen" 2>"$work/counts"
    candidates=$(find "$work/candidates" -type f | wc -l)
    find "$corpus" -maxdepth 1 -type f | while read -r file; do
        case $(basename "${file%.bin}") in *[!0-9a-f]*) ;; *) rm "$file" ;; esac
    done
    while read -r path; do cp "$path" "$corpus/$(basename "$path" | cut -c1-12).bin"; done <"$work/chosen"
    read -r every before now kept <"$work/counts"
    echo "| \`$target\` | $before | $every | $now | $candidates | $kept |"
    rm -rf "${work:?}"/*
done
