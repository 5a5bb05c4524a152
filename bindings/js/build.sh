#!/usr/bin/env bash
# Builds dist/: the WebAssembly modules, the JavaScript that loads them, and the package. Needs `npm ci` before.
#
# With PROFILE=trial the modules are those of the tests: hardly optimised, and not made smaller by wasm-opt.
set -euo pipefail
cd "$(dirname "$0")"
target=../target
profile=wasm
[ "${PROFILE:-}" != trial ] || profile=trial

cargo build --quiet --locked --profile "$profile" --package ilo-js --package ilo-js-vm --package ilo-js-guide --target wasm32-unknown-unknown
cargo build --quiet --locked --profile glue --package ilo-glue
rm -rf dist
mkdir dist
# module CRATE FILE GLUE: a module and the JavaScript that loads it.
module() {
    "$target/glue/ilo-glue" "$target/wasm32-unknown-unknown/$profile/$1.wasm" dist "$3"
    if [ "$profile" = trial ]; then
        mv "dist/$3_bg.wasm" "dist/$2"
    else
        # The features are those that Rust itself uses: one more would not run everywhere. The passes that are left out make
        # the modules smaller, but what brotli makes of them larger. Nothing is at the first 1,024 addresses but the end
        # of the stack.
        node_modules/.bin/wasm-opt -Oz --low-memory-unused --skip-pass=inlining-optimizing --skip-pass=local-cse \
            --skip-pass=merge-similar-functions --skip-pass=memory-packing \
            --enable-bulk-memory --enable-bulk-memory-opt --enable-mutable-globals --enable-multivalue \
            --enable-nontrapping-float-to-int --enable-reference-types --enable-sign-ext \
            --output "dist/$2" "dist/$3_bg.wasm"
        rm "dist/$3_bg.wasm"
    fi
    rm -f "dist/$3_bg.wasm.d.ts"
}
module ilo_js ilo.wasm glue
module ilo_js_vm vm.wasm vm_glue
module ilo_js_guide guide.wasm guide_glue
{ printf 'export default "'; base64 -w0 dist/ilo.wasm; printf '";\n'; } > dist/ilo.wasm.base64.js
printf 'declare const base64: string;\nexport default base64;\n' > dist/ilo.wasm.base64.d.ts
node_modules/.bin/tsc -p .
# Few files for what several entries share, in place of many: an import is quicker. Beside what package.json exports, the
# playground reads index.js, and the tests the others. `--keep-names` would name each function when it is made, and
# runs would take a tenth longer.
entries=$(cd dist && ls {.,guide,vm}/{node,browser,workerd}.js {.,guide}/core.js {,vm_,guide_}glue.js {index,inline,json,ai,mcp,openai-agents,pg}.js)
# shellcheck disable=SC2086
(cd dist && ../node_modules/.bin/esbuild $entries --bundle --splitting --format=esm --platform=neutral --target=es2022 \
    --chunk-names=shared-[hash] --packages=external '--external:*.wasm' '--external:*.base64.js' --log-level=warning --outdir=bundled)
find dist -name '*.js' ! -name '*.base64.js' ! -path 'dist/bundled/*' -delete
# Imports for the order of effects: these files have none, as package.json says, and bundlers would warn.
find dist/bundled -name '*.js' -exec sed -i -E '/^import "(\.\.?\/)+shared-[A-Z0-9]+\.js";$/d' {} +
# A class that names itself is `var Run = class _Run` here; messages say its name.
classes=$(find dist/bundled -name '*.js' -exec sed -nE 's/^var (\w+) = class _\1 .*/\1/p' {} + | sort -u | paste -sd '|')
[ -z "$classes" ] || find dist/bundled -name '*.js' -exec sed -i -E "s/\b_($classes)\b/\1/g" {} +
cp -r dist/bundled/. dist
rm -r dist/bundled
