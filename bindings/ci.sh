#!/usr/bin/env bash
# Builds the bindings and runs their lints and tests, and prints each step with the time that it took.
#
# Needs what build.sh does. Installs chromium for the playground where it may. Everything that it makes is in folders that
# git ignores.
set -euo pipefail
cd "$(dirname "$0")"
export CARGO_TERM_COLOR=never CARGO_INCREMENTAL=0

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
step 'build'
./build.sh
step 'playground: page'
../playground/build.sh
if ! command -v chromium >/dev/null && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    { apt-get update && apt-get install -y --no-install-recommends chromium; } >/dev/null 2>&1 || true
fi
# These tests wait more than they compute, so they run at once with those that follow; `shown` waits for them and prints
# what they said.
at_once() { (cd "$2" && timeout 600 "${@:3}") >"target/$1.txt" 2>&1 & }
shown() {
    local code=0
    wait "$2" || code=$?
    cat "target/$1.txt"
    return "$code"
}
at_once python python ../.venv/bin/python -m pytest --quiet tests
python=$!
page=
if command -v chromium >/dev/null || [ -n "${CHROMIUM:-}${CI:-}" ]; then
    at_once page ../playground node --test tests/page.test.mjs tests/hostile.test.mjs
    page=$!
fi
printf '\nThe tests of Python and of the playground begin, and are shown below.\n'
step 'javascript: types'
(cd js && npm run --silent types)
(cd js/tests/package && npm test --silent)
step 'javascript: tests'
(cd js && timeout 600 node --test tests/)
step 'javascript: Deno, Bun and workerd'
(cd js/tests/runtimes && timeout 120 node run.js)
step 'python: tests'
shown python $python
step 'python: types'
(cd python && ../.venv/bin/python -m mypy.stubtest ilo._ilo)
(cd python && MYPYPATH=python ../.venv/bin/python -m mypy --python-version 3.10 -p ilo)
(cd python && ../.venv/bin/pyright --project . --pythonpath ../.venv/bin/python tests/host_types.py)
step 'playground: tests in a browser'
if [ -n "$page" ]; then
    shown page $page
else
    echo 'left out: there is no chromium, and apt-get cannot install it here'
fi
step 'editors'
../editors/ci.sh
finish
printf '\nThe bindings pass, %d s.\n' $((SECONDS - begun))
