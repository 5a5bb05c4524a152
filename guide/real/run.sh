#!/usr/bin/env bash
# Tries grammars in llguidance and xgrammar, and measures their masks beside those of the guide:
# guide/real/run.sh [HOW MANY FUNCTIONS]. Takes about eight minutes. Installs both engines into guide/real/venv, which
# needs python3 and, with the libraries that xgrammar needs, 7 GB.
set -euo pipefail
cd "$(dirname "$0")"
if [ ! -x venv/bin/python ]; then
  python3 -m venv venv
  venv/bin/pip install --quiet llguidance xgrammar
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cargo run --quiet --release --locked -p ilo-guide --example grammars >"$folder/samples"
venv/bin/python engines.py "$folder/samples" "${1:-300}"
cargo run --quiet --release --locked -p ilo-guide --example measure "$folder"
venv/bin/python masks.py "$folder"
