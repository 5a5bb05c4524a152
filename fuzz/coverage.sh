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
checked=(vm/src/verify.rs vm/src/verify/flow.rs vm/src/verify/look.rs vm/src/verify/rules.rs vm/src/budget.rs
    asm/src/check/flow.rs spec/src/decode.rs)
profiles=$CARGO_TARGET_DIR/profiles
rm -rf "$profiles"
mkdir -p "$profiles"
# Where build scripts and macros leave theirs.
export LLVM_PROFILE_FILE=$profiles/build-%p.raw

packages=(-p ilo-spec -p ilo-asm -p ilo-vm -p ilo-fuzz --no-default-features)
cargo test --locked --quiet "${packages[@]}" --lib --tests --no-run
cargo build --locked --quiet -p ilo-fuzz --no-default-features --bin oracle
rm -f "$profiles"/*
LLVM_PROFILE_FILE=$profiles/test-%p-%m.raw cargo test --locked --quiet "${packages[@]}" --lib --tests >"$profiles/tests.txt" 2>&1
LLVM_PROFILE_FILE=$profiles/oracle-%p.raw "$CARGO_TARGET_DIR/debug/oracle" "$programs" >"$profiles/oracle.txt" 2>&1

objects=()
for binary in $(cargo test --locked "${packages[@]}" --lib --tests --no-run --message-format=json 2>/dev/null |
    grep -o '"executable":"[^"]*"' | cut -d'"' -f4); do
    objects+=(-object "$binary")
done
"$llvm/llvm-profdata" merge -sparse -o "$profiles/tests.data" "$profiles"/test-*.raw
"$llvm/llvm-profdata" merge -sparse -o "$profiles/oracle.data" "$profiles"/oracle-*.raw

# Branches of source lines as lcov has them, each side that no test took: missed DATA OBJECTS... -- FILES...
summary() {
    local data=$1
    shift
    "$llvm/llvm-cov" export -format=lcov -instr-profile="$data" "$@" |
        awk -v root="$PWD/" '
            /^SF:/ { file = substr($0, 4); sub(root, "", file) }
            /^BRDA:/ {
                split(substr($0, 6), part, ",")
                key = file "\t" part[1] "\t" part[2] "." part[3]
                seen[key] = 1
                if (part[4] != "-" && part[4] > 0) taken[key] = 1
            }
            END { for (key in seen) print key "\t" (key in taken) }' | sort -t "$(printf '\t')" -k1,1 -k2,2n
}
summary "$profiles/tests.data" "${objects[@]}" >"$profiles/tests.txt.branches"
summary "$profiles/oracle.data" -object "$CARGO_TARGET_DIR/debug/oracle" >"$profiles/oracle.txt.branches"

table() {
    awk -F '\t' -v file="$2" '
        index($1, file) == 1 { all++; if (!$4) { missed++; lines = lines " " $2 } }
        END { printf "| `%s` | %d | %d |%s |\n", file, all, all - missed, lines == "" ? " none" : lines }' "$1"
}
echo '| file | branches | taken by tests | lines with one that was not |'
echo '|---|---|---|---|'
for file in "${checked[@]}"; do table "$profiles/tests.txt.branches" "$file"; done
echo
echo "| file | branches | taken by $programs generated programs | lines with one that was not |"
echo '|---|---|---|---|'
for file in asm/src/lower/*.rs; do table "$profiles/oracle.txt.branches" "$file"; done
