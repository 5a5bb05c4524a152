#!/usr/bin/env bash
# Branch coverage of the code between untrusted input and the machine: fuzz/coverage.sh [PROGRAMS].
# Runs the instrumented tests of spec, asm, vm and fuzz, and prints for each of these files its branches and those that were
# not taken; fuzz/RESULTS.md says why for each. Then it does the same for lowering with generated programs alone (20,000 by
# default). Needs a nightly toolchain, which can count branches, and llvm-profdata and llvm-cov (Debian: llvm-19; the
# variable LLVM names the folder of others).
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
# The profiles of build scripts and macros.
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

# Prints the row of a file. A condition has two branches, each taken if any instance of a generic function takes it.
row() {
    local data=$1 file=$2
    shift 2
    "$llvm/llvm-cov" export -skip-functions -instr-profile="$data" "$@" -sources "$PWD/$file" 2>/dev/null |
        # A file without branches is not an error.
        { grep -oE '\[[0-9]+(,[0-9]+){8}\]' || true; } | tr -d '[]' |
        awk -F, -v file="$file" '
            { key = $1 " " $2 " " $3 " " $4; line[key] = $1; true[key] += $5; false[key] += $6 }
            END {
                for (key in line) {
                    all += 2; taken += (true[key] > 0) + (false[key] > 0)
                    if (!true[key] || !false[key]) lines = lines " " line[key]
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
