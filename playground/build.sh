#!/usr/bin/env bash
# Builds dist/index.html: the whole page in one file. Needs ../bindings/js/dist (bindings/js/build.sh).
set -euo pipefail
cd "$(dirname "$0")"
npm ci --silent --no-audit --no-fund --ignore-scripts
node_modules/.bin/tsc
node build.mjs
