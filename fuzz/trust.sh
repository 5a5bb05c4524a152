#!/usr/bin/env bash
# A short version of every run in RESULTS.md: fuzz/trust.sh, four minutes on two cores once everything is built. Prints
# a row for each part. A part whose tools are missing (a nightly toolchain, cargo-fuzz, cargo-deny, Miri) is skipped, and
# its row says so. Exits with 1 if a part failed.
#   FUZZ_SECONDS   the time for each fuzz target (5)
#   PROGRAMS       the programs for the oracle (100,000)
set -uo pipefail
cd "$(dirname "$0")/.."
log=$(mktemp -d)
trap 'rm -rf "$log"' EXIT
failed=0

echo '| part | seconds | result |'
echo '|---|---|---|'
# part NAME PATTERN COMMAND...: prints the last line of the output that matches the pattern, or the failure.
part() {
    local name=$1 pattern=$2 begun=$EPOCHSECONDS result
    shift 2
    if "$@" >"$log/out" 2>&1; then
        result=$(grep -aE "$pattern" "$log/out" | tail -1)
    else
        result="FAILED: $(grep -aE 'panicked|^error|disagree|broke a promise' "$log/out" | head -1)"
        failed=1
    fi
    echo "| $name | $((EPOCHSECONDS - begun)) | ${result:-done} |"
}
left_out() { echo "| $1 | | left out: $2 |"; }

fuzz=(-p ilo-fuzz --no-default-features)
# Every target in turn, and the sum of their executions.
fuzz_targets() {
    FUZZ_FOUND=$log/found fuzz/run.sh "${FUZZ_SECONDS:-5}" | awk -F'|' '
        { print }
        NR > 2 { targets += 1; executions += $4 }
        END { print targets " targets, " executions " executions, no promise broken" }'
}
part 'each rule of the verifier broken and restored, and its edges' 'test result' \
    cargo test --quiet --locked -p ilo-vm --test all verifier
part 'the encoding, and every count at n and n + 1' 'test result' \
    cargo test --quiet --locked -p ilo-spec --test decoding --test limits
part 'ceilings from a source at n and n + 1' 'test result' cargo test --quiet --locked -p ilo-asm --test all ceilings::
part 'limits of a run at n and n + 1, and its memory to the byte' 'test result' \
    cargo test --quiet --locked -p ilo-vm --test all -- limits:: collection:: budget::
part 'the fuel that each instruction is charged' 'test result' \
    cargo test --quiet --locked -p ilo-vm --test all fuel_costs::
part 'memory of runs that fill their limit' 'loop results' \
    cargo test --locked "${fuzz[@]}" --lib tests::memory:: -- --nocapture
part 'fuzz bodies on their corpora' 'test result' cargo test --quiet --locked "${fuzz[@]}" --lib tests::corpora::
part 'one in forty programs and snapshots with every byte changed to every value' 'refused or harmless' \
    cargo run --quiet --locked --profile checked "${fuzz[@]}" --bin every-byte -- 0 40
part 'random programs against the oracle' 'programs agree' fuzz/oracle.sh "${PROGRAMS:-100000}"
part 'time for a unit of fuel, the dearest' '^\| .* [0-9]' cargo run --quiet --locked --profile checked "${fuzz[@]}" --bin fuel
# The lint that every crate of the workspace inherits.
part 'unsafe code is forbidden' 'forbid' grep -n 'unsafe_code = "forbid"' Cargo.toml

if command -v cargo-fuzz >/dev/null && rustup toolchain list 2>/dev/null | grep -q nightly; then
    # In a fresh folder: reading all that longer searches found would take minutes.
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
    # The tests that take seconds; RESULTS.md has longer ones.
    part "Miri on tests of the machine" 'test result' cargo +nightly miri test -p ilo-vm --test all fused_instructions::
else
    left_out "Miri on tests of the machine" 'no component miri'
fi
exit $failed
