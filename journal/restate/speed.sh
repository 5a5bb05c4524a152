#!/usr/bin/env bash
# Compares runs of ilo programs with services that are written by hand, on one server:
# journal/restate/speed.sh [ROUNDS [SECONDS]]
#
# RESTATE_SERVER names the server's program; without it npm fetches one into target/.
set -euo pipefail
cd "$(dirname "$0")"
. ./find_server.sh
date -u +%F
cargo build --quiet --locked --release --bins --examples
"$target/release/examples/speed" "${1:-5}" "${2:-5}"
