#!/usr/bin/env bash
# Kills the endpoint and the server at random while runs are under way, and looks for runs that are lost or doubled:
# journal/restate/crash.sh [ROUNDS]
#
# RESTATE_SERVER names the server's program; without it npm fetches one into target/.
set -euo pipefail
cd "$(dirname "$0")"
rounds=${1:-20}
. ./find_server.sh
date -u +%F
cargo build --quiet --locked --bins --examples
"$target/debug/examples/crash" "$rounds" "$(date +%s)"
