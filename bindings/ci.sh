#!/usr/bin/env bash
# Builds the bindings and runs their lints and tests, and prints each step with the time that it took.
#
# Needs python3 with its module venv, a package index for pip, Node 20 with npm, and the Rust target
# wasm32-unknown-unknown. Installs chromium for the playground where it may. Everything that it makes is in folders that git ignores.
set -euo pipefail
cd "$(dirname "$0")"
export CARGO_TERM_COLOR=never CARGO_INCREMENTAL=0 PIP_DISABLE_PIP_VERSION_CHECK=1
# What is published is linked as one; what is tested here need not be, and is built in half of the time.
export CARGO_PROFILE_BINDINGS_LTO=off CARGO_PROFILE_WASM_LTO=off CARGO_PROFILE_WASM_CODEGEN_UNITS=16

begun=$SECONDS
name='' since=$SECONDS
finish() { [ -z "$name" ] || printf -- '-- %s: %d s\n' "$name" $((SECONDS - since)); }
step() {
    finish
    name=$1 since=$SECONDS
    printf '\n== %s\n' "$name"
}

step 'format'
cargo fmt --all --check
step 'lints'
# Into the folder of the workspace above, whose lints have checked most dependencies already.
CARGO_TARGET_DIR=../target cargo clippy --all-targets --locked -- -D warnings
step 'python: environment'
[ -x .venv/bin/python ] || python3 -m venv .venv
.venv/bin/pip install --quiet --requirement python/requirements.txt --requirement python/requirements-frameworks.txt
step 'python: wheel'
rm -rf target/wheels
.venv/bin/maturin build --quiet --locked --manifest-path python/Cargo.toml --features postgres \
    --out target/wheels --interpreter .venv/bin/python
.venv/bin/pip install --quiet --force-reinstall --no-deps target/wheels/ilo_vm-*.whl
ls -l target/wheels
step 'python: types'
(cd python && ../.venv/bin/python -m mypy.stubtest ilo._ilo)
(cd python && MYPYPATH=python ../.venv/bin/python -m mypy --python-version 3.10 -p ilo)
(cd python && ../.venv/bin/pyright --project . --pythonpath ../.venv/bin/python tests/host_types.py)
step 'python: tests'
# What Rust makes of the corpus, to compare with.
cargo build --quiet --locked --profile bindings --package ilo-bindings --example replay
(cd python && timeout 600 ../.venv/bin/python -m pytest --quiet tests)
step 'javascript: packages'
(cd js && npm ci --silent --no-audit --no-fund)
for part in schemas package; do (cd js/tests/$part && npm ci --silent --no-audit --no-fund); done
step 'javascript: module'
# Without wasm-opt, which takes longer than all the tests: `npm run build` makes what is published.
FAST=1 js/build.sh
ls -l js/dist/ilo.wasm
step 'javascript: types'
(cd js && npm run --silent types)
(cd js/tests/package && npm test --silent)
step 'javascript: tests'
cargo build --quiet --locked --profile bindings --package ilo-bindings --example replay
(cd js && timeout 600 node --test tests/)
step 'javascript: Deno, Bun and workerd'
(cd js/tests/runtimes && npm ci --silent --no-audit --no-fund && timeout 120 node run.js)
step 'playground: page'
../playground/build.sh
step 'playground: tests in a browser'
if ! command -v chromium >/dev/null && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    { apt-get update && apt-get install -y --no-install-recommends chromium; } >/dev/null 2>&1 || true
fi
if command -v chromium >/dev/null || [ -n "${CHROMIUM:-}${CI:-}" ]; then
    (cd ../playground && timeout 600 node --test tests/page.test.mjs tests/hostile.test.mjs)
else
    echo 'left out: there is no chromium, and apt-get cannot install it here'
fi
step 'editors'
../editors/ci.sh
finish
printf '\nThe bindings pass, %d s.\n' $((SECONDS - begun))
