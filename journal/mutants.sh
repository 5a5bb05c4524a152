#!/usr/bin/env bash
# Makes the journal wrong in one place at a time, in a copy of the tree, and runs the crash tests on the copy: each
# mutant must be caught. The crate itself has no code of mutants; those of the statements are in the simulation.
#
#   journal/mutants.sh
#
# It needs Linux and strace: apt-get install strace
set -euo pipefail
cd "$(dirname "$0")/.."
command -v strace >/dev/null || { echo 'strace is missing: apt-get install strace' >&2; exit 2; }
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
copy=$CARGO_TARGET_DIR/mutants
missed=0

# Replaces one line of a file by another, and runs the test with these arguments.
mutant() {
    local name=$1 file=$2 line=$3 other=$4 mode=$5
    rm -rf "$copy"
    mkdir -p "$copy"
    git ls-files -z | grep -zv '^bindings/' | xargs -0 cp --parents -t "$copy"
    grep -qF -- "$line" "$copy/$file" || { echo "$name: $file has no line '$line'"; missed=1; return; }
    LINE=$line OTHER=$other perl -0pi -e 's/\Q$ENV{LINE}\E/$ENV{OTHER}/' "$copy/$file"
    (cd "$copy" && cargo test --quiet --locked -p ilo-journal --test crash --no-run) || { missed=1; return; }
    local out seed status
    for seed in $(seq 1 8); do
        # shellcheck disable=SC2086
        status=0
        out=$(cd "$copy" && ILO_ROUNDS=${ROUNDS:-48} ILO_SEED=$seed \
            timeout 600 cargo test --quiet --locked -p ilo-journal --test crash -- $mode 2>&1) || status=$?
        if [ "$status" = 124 ]; then
            break
        elif [ "$status" != 0 ]; then
            printf 'caught: %s, seed %s: %s\n' "$name" "$seed" \
                "$(grep -m1 -E 'violation|panicked|seed [0-9]+:' <<<"$out" | cut -c1-150)"
            return
        fi
    done
    echo "MISSED: $name"
    missed=1
}

date -u +%F
cargo test --quiet --locked -p ilo-journal --lib simulation -- --nocapture 2>/dev/null | grep caught
mutant 'commits are not flushed (synchronous=NORMAL)' journal/src/sqlite/schema.rs \
    '"synchronous", "full"' '"synchronous", "normal"' power
mutant 'nobody waits for the commit' journal/src/session.rs \
    'self.cancel |= self.store.record(lease, &record)?.wait()?;' 'let _ = self.store.record(lease, &record)?;' power
mutant 'the record of a call follows its effect' journal/src/session.rs \
    '} else if !self.write(To::Calling, &last)? {' '} else if self.lease().is_none() && !self.write(To::Calling, &last)? {' ''
mutant 'what may have been made is made again' journal/src/recovery.rs \
    'Some(Effect::Changes) => Recovery::Doubt' 'Some(Effect::Changes) => Recovery::Again' ''
mutant 'nobody is asked before a later call' journal/src/session.rs \
    'if policy.confirm && !approved {' 'if policy.confirm && !approved && self.lease().is_none() {' ''
exit $missed
