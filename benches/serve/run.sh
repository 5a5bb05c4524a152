#!/usr/bin/env bash
# Compares `ilo-vm serve` with other MCP servers that answer the same calls: a plain server of the protocol library
# that ilo uses, FastMCP, and the TypeScript SDK. Installs the last two below this folder with pip and npm, builds the
# others, and prints a table. `run.sh [SECONDS]`: the time of each row.
set -euo pipefail
cd "$(dirname "$0")"
root=../..
seconds=${1:-5}
cargo build --release -p ilo-cli --manifest-path $root/Cargo.toml
cargo build --release -p ilo-serve-bench --bin plain --bin measure --manifest-path $root/Cargo.toml
build=${CARGO_TARGET_DIR:-$PWD/$root/target}/release

[ -d node_modules ] || npm install --no-audit --no-fund --no-package-lock
[ -d venv ] || { python3 -m venv venv && venv/bin/pip install -q -r requirements.txt; }

echo '| over | clients | server | calls/s | p50 ms | p99 ms | CPU µs/call | peak MB |'
echo '|---|---|---|---|---|---|---|---|'
row() { "$build/measure" "$@" || echo "$1 over $2 with $3 clients: failed" >&2; }
# Over stdio each client has a server of its own. With 200 clients there is room for the small ones only.
for clients in 1 32 200; do
    row ilo stdio $clients "$seconds" "$build/ilo-vm" serve add.ilo
    row rmcp stdio $clients "$seconds" "$build/plain" stdio
    [ $clients = 200 ] && continue
    row FastMCP stdio $clients "$seconds" venv/bin/python server.py stdio
    row TypeScript stdio $clients "$seconds" node server.mjs stdio
done
for clients in 1 32 200; do
    row ilo http $clients "$seconds" "$build/ilo-vm" serve --http 0 add.ilo
    row rmcp http $clients "$seconds" "$build/plain" http
    row FastMCP http $clients "$seconds" venv/bin/python server.py http 38741
    row TypeScript http $clients "$seconds" node server.mjs http
done
