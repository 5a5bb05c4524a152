#!/usr/bin/env bash
# Runs the set-ups of editors/README.md in the editors that are installed, and builds the VS Code extension.
#
# `ILO_ASM` is the path of a built `ilo-asm`. Without an editor, or without npm, that part is left out and the script
# says so.
set -euo pipefail
cd "$(dirname "$0")"
export ILO_ASM=${ILO_ASM:-$(cd .. && pwd)/target/debug/ilo-asm}
[ -x "$ILO_ASM" ] || cargo build --locked -p ilo-cli --no-default-features --features lsp --bin ilo-asm

# Where this may install them, they are installed.
if ! { command -v nvim && command -v emacs; } >/dev/null && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    { apt-get update && apt-get install -y --no-install-recommends neovim emacs-nox elpa-eglot; } >/dev/null 2>&1 || true
fi

has() { command -v "$1" >/dev/null || { echo "editors: $1 is not installed, SKIPPED"; return 1; }; }

if has nvim; then
    timeout 120 nvim --headless -i NONE --cmd "let g:do_filetype_lua = 1 | let g:ilo_path = '$ILO_ASM'" -u neovim.lua \
        -c 'luafile tests/neovim.lua' </dev/null
fi
if has emacs; then
    timeout 120 emacs --batch -q -l emacs.el -l tests/emacs.el
fi
if has npm; then
    (cd vscode && npm ci --silent --no-audit --no-fund && npm run --silent build && npm run --silent package)
    ls -l vscode/ilo.vsix
fi
