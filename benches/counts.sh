#!/bin/sh
# Counts the instructions of fixed work and compares with counts.txt: more than 3 % above it fails. Unlike times, counts
# do not depend on what else the machine does. They do on compiler and C library: after changing the compiler, and after
# every gain, write them anew with `benches/counts.sh --update`; with another C library than they were written with there
# is nothing to compare, and the script says so.
set -eu
cd "$(dirname "$0")/.."
known=benches/counts.txt

if ! command -v valgrind >/dev/null; then
    echo "counts: SKIPPED, nothing was compared: valgrind is not installed" >&2
    exit 0
fi

cargo build --quiet --release --locked -p ilo-benches --bin counts
binary="${CARGO_TARGET_DIR:-target}/release/counts"

# The instructions of one round of "name times".
count() {
    log=$(valgrind --tool=callgrind --toggle-collect='*counts*measured*' --callgrind-out-file=/dev/null \
        "$binary" "$1" "$2" 2>&1) || { echo "$log" >&2; exit 1; }
    total=$(echo "$log" | sed -n 's/.*Collected *: *//p')
    echo $((total / $2))
}

all="p1:1000 p2:2 p3:1000 p4:1 start:1000 fresh:1000 assemble-notify:10 assemble-large:1 load-notify:10 load-large:1"
on="# $(uname -m), $(getconf GNU_LIBC_VERSION 2>/dev/null || echo 'another C library')"
found=$(for item in $all; do
    echo "${item%:*} $(count "${item%:*}" "${item#*:}")"
done)

if [ "${1:-}" = --update ]; then
    printf '%s\n%s\n' "$on" "$found" >"$known"
    exit 0
fi
if [ "$(head -n 1 "$known")" != "$on" ]; then
    echo "counts: NOT COMPARED: $known is of $(head -n 1 "$known" | cut -c 3-), this is $(echo "$on" | cut -c 3-)" >&2
    echo "$found"
    exit 0
fi
echo "$found" | awk -v known="$known" '
    BEGIN { while ((getline line < known) > 0) { split(line, part, " "); before[part[1]] = part[2] } }
    {
        if (!($1 in before)) { printf "%-16s %10d, not in %s\n", $1, $2, known; bad = 1; next }
        change = 100 * ($2 - before[$1]) / before[$1]
        note = ""
        if (change > 3) { note = "  too many"; bad = 1 }
        printf "%-16s %10d %+6.1f %%%s\n", $1, $2, change, note
    }
    END { exit bad }'
