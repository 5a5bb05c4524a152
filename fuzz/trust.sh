#!/usr/bin/env bash
# A bounded version of all that RESULTS.md has long runs of: fuzz/trust.sh, four minutes on two cores once everything is built. Prints a
# row for each part; what this machine lacks (a nightly toolchain, cargo-fuzz, cargo-deny, Miri) is said and left out.
# Ends with 1 where a part failed. FUZZ_SECONDS (5) is the time for each fuzz target, PROGRAMS (100,000) those for the
# oracle.
set -uo pipefail
cd "$(dirname "$0")/.."
log=$(mktemp -d)
trap 'rm -rf "$log"' EXIT
failed=0

echo '| part | seconds | result |'
echo '|---|---|---|'
# part NAME PATTERN COMMAND...: the last line of its output that has the pattern, else how it ended.
part() {
    local name=$1 pattern=$2 begun=$EPOCHSECONDS said
    shift 2
    if "$@" >"$log/out" 2>&1; then
        said=$(grep -aE "$pattern" "$log/out" | tail -1)
    else
        said="FAILED: $(grep -aE 'panicked|^error|disagree|broke a promise' "$log/out" | head -1)"
        failed=1
    fi
    echo "| $name | $((EPOCHSECONDS - begun)) | ${said:-done} |"
}
left_out() { echo "| $1 | | left out: $2 |"; }

fuzz=(-p ilo-fuzz --no-default-features)
# Every target in turn, with the sum of what was run.
fuzz_targets() {
    FUZZ_INPUTS=$log/inputs fuzz/run.sh "${FUZZ_SECONDS:-5}" | awk -F'|' '
        { print }
        NR > 2 { targets += 1; executions += $4 }
        END { print targets " targets, " executions " executions, no promise broken" }'
}
part 'each rule of the verifier broken and mended, and its edges' 'test result' \
    cargo test --quiet --locked -p ilo-vm --test verifier_rules --test verifier_boundaries --test verifier
part 'the packed form, and every count at n and n + 1' 'test result' \
    cargo test --quiet --locked -p ilo-spec --test decoding --test limits
part 'ceilings from a source at n and n + 1' 'test result' cargo test --quiet --locked -p ilo-asm --test ceilings
part 'limits of a run at n and n + 1, and its room to the byte' 'test result' \
    cargo test --quiet --locked -p ilo-vm --test limits --test collection --test budget
part 'what each instruction is charged for what it touches' 'test result' \
    cargo test --quiet --locked -p ilo-vm --test fuel_costs
part 'memory of runs that fill theirs' 'what a loop yields' \
    cargo test --locked "${fuzz[@]}" --test memory -- --nocapture
part 'fuzz bodies on their corpora' 'test result' cargo test --quiet --locked "${fuzz[@]}" --test corpora
part 'one in forty programs with every byte changed to every value' 'refused or harmless' \
    cargo run --quiet --locked --profile checked "${fuzz[@]}" --bin sweep -- 0 40
part 'random programs against the oracle' 'programs agree' fuzz/oracle.sh "${PROGRAMS:-100000}"
part 'time for a unit of fuel, the dearest' '^\| .* [0-9]' cargo run --quiet --locked --profile checked "${fuzz[@]}" --bin fuel
# What the compiler is told in every crate: no unsafe code of ours.
part 'unsafe code is forbidden' 'forbid' grep -n 'unsafe_code = "forbid"' Cargo.toml

if command -v cargo-fuzz >/dev/null && rustup toolchain list 2>/dev/null | grep -q nightly; then
    # From the corpora on: all that longer searches found would take minutes to read.
    part 'every fuzz target' 'executions' fuzz_targets
else
    left_out 'every fuzz target' 'no cargo-fuzz or no nightly toolchain'
fi
if command -v cargo-deny >/dev/null; then
    part 'bans, licences and sources of dependencies' 'bans ok' cargo deny --offline check bans licenses sources
else
    left_out 'bans, licences and sources of dependencies' 'no cargo-deny'
fi
if cargo +nightly miri --version >/dev/null 2>&1; then
    # The tests that it takes seconds for; RESULTS.md has longer ones.
    part "Miri on tests of the machine" 'test result' cargo +nightly miri test -p ilo-vm --test fused_instructions
else
    left_out "Miri on tests of the machine" 'no component miri'
fi
exit $failed
