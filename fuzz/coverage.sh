#!/usr/bin/env bash
# Branch coverage of what stands between the outside and the machine: fuzz/coverage.sh [PROGRAMS].
# Runs the tests of spec, asm, vm and fuzz, instrumented, and prints for each of these files how many branches there are
# and which were not taken; fuzz/RESULTS.md says why for each. Then the generated programs alone (20,000 where nothing is
# said) on lowering. Needs a nightly toolchain, which can tell branches, and llvm-profdata and llvm-cov (Debian: llvm-19;
# LLVM names the folder of others).
set -euo pipefail
cd "$(dirname "$0")/.."
programs=${1:-20000}
llvm=${LLVM:-/usr/lib/llvm-19/bin}
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}/coverage
export RUSTUP_TOOLCHAIN=nightly RUSTFLAGS='-C instrument-coverage -Z coverage-options=branch'
checked=(vm/src/verify.rs vm/src/verify/flow.rs vm/src/verify/operands.rs vm/src/verify/rules.rs vm/src/budget.rs
    asm/src/check/flow.rs spec/src/bytes.rs spec/src/decode.rs)
profiles=$CARGO_TARGET_DIR/profiles
rm -rf "$profiles"
mkdir -p "$profiles"
# Where build scripts and macros leave theirs.
export LLVM_PROFILE_FILE=$profiles/build-%p.raw

packages=(-p ilo-spec -p ilo-asm -p ilo-vm -p ilo-fuzz --no-default-features)
cargo test --locked --quiet "${packages[@]}" --lib --tests --no-run
cargo build --locked --quiet -p ilo-fuzz --no-default-features --bin oracle
rm -f "$profiles"/*
LLVM_PROFILE_FILE=$profiles/test-%p-%m.raw cargo test --locked --quiet --no-fail-fast \
    "${packages[@]}" --lib --tests >"$profiles/tests.txt" 2>&1 || true
LLVM_PROFILE_FILE=$profiles/oracle-%p.raw "$CARGO_TARGET_DIR/debug/oracle" "$programs" >"$profiles/oracle.txt" 2>&1

objects=()
for binary in $(cargo test --locked "${packages[@]}" --lib --tests --no-run --message-format=json 2>/dev/null |
    grep -o '"executable":"[^"]*"' | cut -d'"' -f4); do
    objects+=(-object "$binary")
done
"$llvm/llvm-profdata" merge -sparse -o "$profiles/tests.data" "$profiles"/test-*.raw
"$llvm/llvm-profdata" merge -sparse -o "$profiles/oracle.data" "$profiles"/oracle-*.raw

# A row for a file: of each condition, both ways, in whichever instance of a generic function; lines of those not taken.
row() {
    local data=$1 file=$2
    shift 2
    "$llvm/llvm-cov" export -skip-functions -instr-profile="$data" "$@" -sources "$PWD/$file" 2>/dev/null |
        # A file without a branch is no failure.
        { grep -oE '\[[0-9]+(,[0-9]+){8}\]' || true; } | tr -d '[]' |
        awk -F, -v file="$file" '
            { key = $1 " " $2 " " $3 " " $4; line[key] = $1; yes[key] += $5; no[key] += $6 }
            END {
                for (key in line) {
                    all += 2; taken += (yes[key] > 0) + (no[key] > 0)
                    if (!yes[key] || !no[key]) lines = lines " " line[key]
                }
                printf "| `%s` | %d | %d |%s |\n", file, all, taken, lines == "" ? " none" : lines
            }'
}
echo '| file | branches | taken by tests | lines with one that was not |'
echo '|---|---|---|---|'
for file in "${checked[@]}"; do row "$profiles/tests.data" "$file" "${objects[@]}"; done
echo
echo "| file | branches | taken by $programs generated programs | lines with one that was not |"
echo '|---|---|---|---|'
for file in asm/src/lower/*.rs; do row "$profiles/oracle.data" "$file" "$CARGO_TARGET_DIR/debug/oracle"; done
