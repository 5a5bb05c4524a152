#!/usr/bin/env bash
# Mutation testing of the code between untrusted input and the machine: fuzz/mutants.sh [FILE...], by default the
# verifier, the budget, the flow analysis and the decoder. Prints for each file the mutants that were caught, that did not
# build or ran out of time, and that no test noticed; RESULTS.md says why for each of the last. Takes an hour on two cores.
# Needs cargo-mutants.
set -euo pipefail
cd "$(dirname "$0")/.."
files=("$@")
if [ $# = 0 ]; then
    files=(vm/src/verify.rs vm/src/verify/flow.rs vm/src/verify/operands.rs vm/src/verify/rules.rs vm/src/budget.rs
        asm/src/check/flow.rs spec/src/bytes.rs spec/src/decode.rs)
fi
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
export CARGO_PROFILE_DEV_DEBUG=0 CARGO_PROFILE_TEST_DEBUG=0
echo '| file | mutants | caught | unviable | timed out | missed |'
echo '|---|---|---|---|---|---|'
for file in "${files[@]}"; do
    # The tests that concern the file, without the longest, which changes every byte; `--bin every-byte` does that.
    modules=()
    case $file in
        vm/src/budget.rs) package=ilo-vm tests=(all) modules=(budget fuel_costs limits collection instructions snapshot) ;;
        vm/*) package=ilo-vm tests=(all) modules=(verifier verifier_rules verifier_boundaries programs fused_instructions) ;;
        asm/*) package=ilo-asm tests=(all) modules=(check id_text ceilings) ;;
        *) package=ilo-spec tests=(decoding limits) ;;
    esac
    arguments=()
    if [ $package = ilo-asm ]; then arguments+=(--cargo-test-arg=--lib); fi
    for test in "${tests[@]}"; do arguments+=(--cargo-test-arg=--test "--cargo-test-arg=$test"); done
    cargo mutants -p $package -f "$file" -o "$out" --baseline skip --timeout 60 -j1 --cargo-arg=--locked \
        "${arguments[@]}" -- -- "${modules[@]/%/::}" --skip no_bytes_make_it_panic >"$out/log" 2>&1 || true
    count() { wc -l <"$out/mutants.out/$1.txt"; }
    caught=$(count caught) missed=$(count missed) unviable=$(count unviable) late=$(count timeout)
    echo "| \`$file\` | $((caught + missed + unviable + late)) | $caught | $unviable | $late | $missed |"
    sed 's/^/    /' "$out/mutants.out/missed.txt"
done
