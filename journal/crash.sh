#!/usr/bin/env bash
# Looks for runs that are lost or doubled, in six ways, and prints figures for RESULTS.md. It stops at the first
# violation, with its seed.
#
#   journal/crash.sh [ROUNDS [SEEDS [IMAGES [EVERY [SERVERS]]]]]
#
# ROUNDS  rounds in which three processes share a journal and are killed at random, which is also a race of owners (1000)
# SEEDS   deterministic simulations (100000)
# IMAGES  states of the files after a loss of power, for each of ten recordings (100)
# EVERY   a process is killed at every EVERYth system call of each kind (1)
# SERVERS rounds with PostgreSQL, in which processes are killed and paused, connections cut, and the server killed (300)
#
# It needs Linux and strace: apt-get install strace
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${1:-1000} seeds=${2:-100000} images=${3:-100} every=${4:-1} servers=${5:-300}
command -v strace >/dev/null || { echo 'strace is missing: apt-get install strace' >&2; exit 2; }
first=$(date +%s)
date -u +%F
cargo test --quiet --locked -p ilo-journal --test crash --no-run
crash() { cargo test --quiet --locked -p ilo-journal --test crash -- "$@" | grep -v '^test result'; }
for seed in $(seq "$first" $((first + 9))); do
    ILO_ROUNDS=$images ILO_SEED=$seed crash power
done
ILO_ROUNDS=$every ILO_SEED=$first crash calls
ILO_SEEDS=$seeds ILO_SEED=$first cargo test --quiet --locked -p ilo-journal --lib simulation -- --nocapture 2>/dev/null |
    grep -E 'seeds from|caught'
ILO_ROUNDS=$rounds ILO_SEED=$first crash
if compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || command -v initdb >/dev/null; then
    ILO_ROUNDS=$servers ILO_SEED=$first cargo test --quiet --locked -p ilo-journal --features postgres --test crash -- postgres |
        grep -v '^test result'
else
    echo 'SKIPPED: PostgreSQL is missing: apt-get install postgresql' >&2
fi
