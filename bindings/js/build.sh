#!/usr/bin/env bash
# Builds dist/: the WebAssembly module, the JavaScript that loads it, and the package. Needs `npm ci` before.
#
# With FAST=1 the module is not made smaller by wasm-opt, which takes the longest.
set -euo pipefail
cd "$(dirname "$0")"
target=../target

cargo build --quiet --locked --profile wasm --package ilo-js --target wasm32-unknown-unknown
cargo build --quiet --locked --profile glue --package ilo-glue
rm -rf dist
mkdir dist
"$target/glue/ilo-glue" "$target/wasm32-unknown-unknown/wasm/ilo_js.wasm" dist
if [ -n "${FAST:-}" ]; then
    mv dist/glue_bg.wasm dist/ilo.wasm
else
    # What Rust itself uses: a feature more would not run everywhere.
    node_modules/.bin/wasm-opt -Oz --enable-bulk-memory --enable-bulk-memory-opt --enable-mutable-globals \
        --enable-multivalue --enable-nontrapping-float-to-int --enable-reference-types --enable-sign-ext \
        --output dist/ilo.wasm dist/glue_bg.wasm
    rm dist/glue_bg.wasm
fi
rm -f dist/glue_bg.wasm.d.ts
{ printf 'export default "'; base64 -w0 dist/ilo.wasm; printf '";\n'; } > dist/ilo.wasm.base64.js
printf 'declare const base64: string;\nexport default base64;\n' > dist/ilo.wasm.base64.d.ts
node_modules/.bin/tsc -p .
