#!/usr/bin/env bash
# Compares random programs with the oracle: fuzz/oracle.sh [COUNT [FIRST]], by default ten million from seed 0.
# Prints the progress, the shares of outcomes, and for each kind of disagreement the shortest program that shows it.
set -euo pipefail
cd "$(dirname "$0")/.."
exec cargo run --quiet --locked --profile checked -p ilo-fuzz --no-default-features --bin oracle -- "${1:-10000000}" "${2:-0}"
