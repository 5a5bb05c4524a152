#!/usr/bin/env bash
# Runs programs through `ilo-vm serve` over servers that are killed at random, and watches its memory.
# `soak.sh [MINUTES]`, 60 without it. Needs ILO_VM, Python and nothing from a registry. Prints what RESULTS.md keeps.
set -euo pipefail
cd "$(dirname "$0")"
: "${ILO_VM:?the path of ilo-vm}"
exec python3 soak.py "$ILO_VM" "${1:-60}"
