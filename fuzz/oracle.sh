#!/usr/bin/env bash
# Random programs against the oracle: fuzz/oracle.sh [COUNT [FIRST]], ten million from seed 0 where nothing is said.
# Prints how it goes, the shares of outcomes, and for each kind of disagreement the shortest program that shows it.
set -euo pipefail
cd "$(dirname "$0")/.."
exec cargo run --quiet --locked --profile checked -p ilo-fuzz --no-default-features --bin oracle -- "${1:-10000000}" "${2:-0}"
