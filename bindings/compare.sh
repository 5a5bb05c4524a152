#!/usr/bin/env bash
# Measures both packages beside pydantic-monty, @pydantic/monty and quickjs-emscripten, and writes RESULTS.md;
# then prints what a host in JavaScript waits for, and the times of masks: compare.sh. Needs what build.sh makes. Builds
# the wheel in .venv and js/dist anew, as they are published: those of the tests are hardly optimised.
set -euo pipefail
cd "$(dirname "$0")"
peers=target/peers

mkdir -p "$peers"
[ -f "$peers/package.json" ] || echo '{"private": true}' > "$peers/package.json"
npm install --prefix "$peers" --silent --no-audit --no-fund --save-exact quickjs-emscripten@0.32.0 @pydantic/monty@0.0.18 \
    gpt-tokenizer@4.0.0
.venv/bin/pip install --quiet pydantic-monty==1.4.0
rm -rf "$peers/wheels"
.venv/bin/maturin build --quiet --locked --manifest-path python/Cargo.toml --features postgres \
    --out "$peers/wheels" --interpreter .venv/bin/python
.venv/bin/pip install --quiet --force-reinstall --no-deps "$peers"/wheels/ilo_vm-*.whl
(cd js && npm run --silent build)
.venv/bin/python python/bench.py "$peers"/wheels/ilo_vm-*.whl --save
node js/bench.js --peers "$peers" --save
node js/host.js --peers "$peers"
node js/masks.js --peers "$peers"
uptime
