#!/usr/bin/env bash
# Tries schemas in jsonschema-rs, and those for Outlines in outlines_core too:
# guide/real/schemas.sh [TAKE EVERY HOW MANY FUNCTIONS]. Installs both into guide/real/venv.
set -euo pipefail
cd "$(dirname "$0")"
[ -x venv/bin/python ] || python3 -m venv venv
venv/bin/pip install --quiet jsonschema-rs outlines-core
samples=$(mktemp)
trap 'rm -f "$samples"' EXIT
cargo run --quiet --release --locked -p ilo-guide --example schemas >"$samples"
venv/bin/python schemas.py "$samples" "${1:-1}"
