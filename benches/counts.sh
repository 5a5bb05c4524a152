#!/bin/sh
# Counts the instructions of fixed work and compares with a baseline: more than 3 % above it fails. Unlike times, counts do
# not depend on what else the machine does. They do on the compiler and the C library: write the baseline anew after
# changing the compiler and after every gain; with another C library than the baseline's there is nothing to compare, and
# the script says so.
#
#     benches/counts.sh [dist] [release] [--update]
#
# `dist` is what is released, `release` what an embedder gets by default; without a profile both are counted.
set -eu
cd "$(dirname "$0")/.."

update=no profiles=
for argument in "$@"; do
    case $argument in
    --update) update=yes ;;
    dist | release) profiles="$profiles $argument" ;;
    *) echo "counts: unknown argument $argument; expected dist, release or --update" >&2; exit 2 ;;
    esac
done

if ! command -v valgrind >/dev/null; then
    echo "counts: SKIPPED, nothing was compared: valgrind is not installed" >&2
    exit 0
fi

# The instructions of one round of "name times".
count() {
    log=$(valgrind --tool=callgrind --toggle-collect='*counts*measured*' --callgrind-out-file=/dev/null \
        "$binary" "$1" "$2" 2>&1) || { echo "$log" >&2; exit 1; }
    total=$(echo "$log" | sed -n 's/.*Collected *: *//p')
    echo $((total / $2))
}

all="p1:1000 p2:2 p3:1000 p4:1 start:1000 fresh:1000 assemble-notify:10 assemble-large:1 load-notify:10 load-large:1"
all="$all read-tools:1 read-tools-file:1 check-tools:1 check-wrong-tools:1 masks-50:1 masks-1000:1"
all="$all constrained-50:1 constrained-1000:1 vocabulary:1"
on="# $(uname -m), $(getconf GNU_LIBC_VERSION 2>/dev/null || echo 'another C library')"

compare() {
    baseline=benches/counts.$1.txt
    binary="${CARGO_TARGET_DIR:-target}/$1/counts"
    # The counted function is found by its name.
    CARGO_PROFILE_DIST_STRIP=none cargo build --quiet --profile "$1" --locked -p ilo-benches --bin counts || return 1
    found=$(for item in $all; do
        echo "${item%:*} $(count "${item%:*}" "${item#*:}")"
    done)
    echo "profile $1"
    if [ $update = yes ]; then
        printf '%s\n%s\n' "$on" "$found" >"$baseline"
        return
    fi
    if [ "$(head -n 1 "$baseline" 2>/dev/null)" != "$on" ]; then
        echo "counts: NOT COMPARED: $baseline is not of $(echo "$on" | cut -c 3-)" >&2
        echo "$found"
        return
    fi
    echo "$found" | awk -v baseline="$baseline" '
        BEGIN { while ((getline line < baseline) > 0) { split(line, part, " "); before[part[1]] = part[2] } }
        {
            if (!($1 in before)) { printf "%-16s %10d, not in %s\n", $1, $2, baseline; bad = 1; next }
            change = 100 * ($2 - before[$1]) / before[$1]
            note = ""
            if (change > 3) { note = "  too many"; bad = 1 }
            printf "%-16s %10d %+6.1f %%%s\n", $1, $2, change, note
        }
        END { exit bad }'
}

failed=0
for profile in ${profiles:-dist release}; do
    compare "$profile" || failed=1
done
exit $failed
