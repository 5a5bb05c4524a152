#!/usr/bin/env bash
# The linker of build.sh and wheel.sh for Linux: zig's, then Rust's own lld on the same files, with options that zig does not pass on.
#
# Functions and data that are alike are placed side by side, where a compressor finds them, and equal functions are one.
# The static program for x86-64 is loaded at a random address, as rustc asks by an option that zig ignores. Its start applies packed
# relocations; the loader of glibc 2.28, which loads everything else, does not know them. For ARM64 rustc makes none of this kind.
set -euo pipefail

zig=$(printenv | sed -n 's/^CARGO_TARGET_.*_LINKER=\(.*zig.*\)/\1/p')
options=(-O2 --icf=all --bp-compression-sort=both) pie=()
case " $* " in *' -static-pie '*) pie=(-pie) options+=(--pack-dyn-relocs=relr) ;; esac
said=$("$zig" "$@" ${pie[@]+"${pie[@]}"} -v 2>&1) || { echo "$said" >&2; exit 1; }
read -ra call <<<"$(grep '^ld\.lld ' <<<"$said" | tail -n 1)"
exec "$(dirname "$(rustc --print target-libdir)")/bin/rust-lld" -flavor gnu "${call[@]:1}" "${options[@]}"
