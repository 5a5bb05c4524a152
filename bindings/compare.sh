#!/usr/bin/env bash
# Measures both packages beside pydantic-monty, @pydantic/monty and quickjs-emscripten, and writes RESULTS.md;
# then prints what a host in JavaScript waits for, and the times of masks: compare.sh. Needs what ci.sh makes, with
# the wheel installed in .venv. Builds js/dist anew, because ci.sh makes it without wasm-opt.
set -euo pipefail
cd "$(dirname "$0")"
peers=target/peers

mkdir -p "$peers"
[ -f "$peers/package.json" ] || echo '{"private": true}' > "$peers/package.json"
npm install --prefix "$peers" --silent --no-audit --no-fund --save-exact quickjs-emscripten@0.32.0 @pydantic/monty@0.0.18 \
    gpt-tokenizer@4.0.0
.venv/bin/pip install --quiet pydantic-monty==1.4.0
(cd js && npm run --silent build)
.venv/bin/python python/bench.py target/wheels/ilo_vm-*.whl --save
node js/bench.js --peers "$peers" --save
node js/host.js --peers "$peers"
node js/masks.js --peers "$peers"
uptime
