#!/usr/bin/env bash
# The linker of build.sh and wheel.sh for Linux: zig's, then Rust's own lld on the same files, with options that zig does not pass on.
#
# Functions and data that are alike are placed side by side, where a compressor finds them, and equal functions are one.
set -euo pipefail

zig=$(printenv | sed -n 's/^CARGO_TARGET_.*_LINKER=\(.*zig.*\)/\1/p')
said=$("$zig" "$@" -v 2>&1) || { echo "$said" >&2; exit 1; }
read -ra call <<<"$(grep '^ld\.lld ' <<<"$said" | tail -n 1)"
exec "$(dirname "$(rustc --print target-libdir)")/bin/rust-lld" -flavor gnu "${call[@]:1}" -O2 --icf=all --bp-compression-sort=both
