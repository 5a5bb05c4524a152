#!/usr/bin/env bash
# Counts tokens and round trips of eleven tasks, and writes them to RESULTS.md. Needs `cargo build --release`, python3 and node.
set -euo pipefail
cd "$(dirname "$0")"
[ -x .venv/bin/python ] || python3 -m venv .venv
.venv/bin/pip install --quiet --disable-pip-version-check pydantic-monty==1.4.0
npm install --silent --no-audit --no-fund --no-save --prefix .venv gpt-tokenizer@4.0.0
.venv/bin/python check.py
.venv/bin/python savings.py --packages .venv "$@" --save
