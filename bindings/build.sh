#!/usr/bin/env bash
# Builds what the tests of the bindings use: the wheel, installed in .venv, and the npm package in js/dist, hardly optimised
# and with assertions. Runs again in a few seconds where nothing changed.
#
# Needs python3 with its module venv, a package index for pip, Node 20 with npm, and the Rust target
# wasm32-unknown-unknown. Everything that it makes is in folders that git ignores.
set -euo pipefail
cd "$(dirname "$0")"
export CARGO_TERM_COLOR=never CARGO_INCREMENTAL=0 PIP_DISABLE_PIP_VERSION_CHECK=1

[ -x .venv/bin/python ] || python3 -m venv .venv
.venv/bin/pip install --quiet --requirement python/requirements.txt --requirement python/requirements-frameworks.txt
rm -rf target/wheels
.venv/bin/maturin build --quiet --locked --profile trial --manifest-path python/Cargo.toml --features postgres \
    --out target/wheels --interpreter .venv/bin/python
.venv/bin/pip install --quiet --force-reinstall --no-deps target/wheels/ilo_vm-*.whl
ls -l target/wheels
# What Rust makes of the corpus, to compare with.
cargo build --quiet --locked --profile trial --package ilo-bindings --example replay

for folder in js js/tests/{schemas,package,runtimes}; do (cd "$folder" && npm ci --silent --no-audit --no-fund); done
PROFILE=trial js/build.sh
ls -l js/dist/ilo.wasm
