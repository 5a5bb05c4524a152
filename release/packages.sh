#!/usr/bin/env bash
# Makes every package of the programs in release/out: wheels, npm packages and archives of Linux and Windows.
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

(cd "$root/bindings/js" && npm ci --silent --no-audit --no-fund && npm run --silent build)
"$release/npm.py" library
for target in x86_64-unknown-linux-musl aarch64-unknown-linux-musl x86_64-pc-windows-gnu; do
    "$release/npm.py" platform "$target"
    "$release/wheel.sh" "${target%-musl}"
done
export ILO_VM=$out/x86_64-unknown-linux-musl/ilo-vm
for target in x86_64-unknown-linux-gnu x86_64-unknown-linux-musl aarch64-unknown-linux-gnu aarch64-unknown-linux-musl x86_64-pc-windows-gnu; do
    "$release/archive.sh" "$target"
done
