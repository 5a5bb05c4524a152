#!/usr/bin/env bash
# Builds the program that packages ship: release/build.sh TARGET
#
# TARGET is one of
#   x86_64-unknown-linux-gnu   aarch64-unknown-linux-gnu    for glibc 2.28 and later
#   x86_64-unknown-linux-musl  aarch64-unknown-linux-musl   static
#   x86_64-pc-windows-gnu
#   x86_64-apple-darwin        aarch64-apple-darwin         on macOS only
# The result is release/out/TARGET/ilo-vm, which is also the assembler under the name `ilo-asm`.
# PROFILE=trial builds for tests of the packages; the default is `dist`.
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

target=${1:?"usage: release/build.sh TARGET; the head of this file lists the targets"}
build=(cargo rustc) as=$target linker=()
case $target in
*-linux-gnu) build=(cargo-zigbuild rustc) as=$target.2.28 linker=(-C "linker=$release/linker.sh") ;;
*-linux-musl) build=(cargo-zigbuild rustc) linker=(-C "linker=$release/linker.sh") ;;
*-windows-gnu) build=(cargo-zigbuild rustc) ;;
*-apple-darwin)
    [ "$(uname)" = Darwin ] || { echo "release/build.sh: $target is built on macOS: it links frameworks of the system" >&2; exit 69; }
    ;;
*) echo "release/build.sh: unknown target $target; the head of this file lists the targets" >&2; exit 64 ;;
esac
case $target in *-linux-*) export TARGET_CFLAGS=$without_tables ;; esac
if command -v rustup >/dev/null; then rustup target add "$target" 2>/dev/null; fi
(cd "$root" && "${build[@]}" --locked --profile "$PROFILE" -p ilo-cli --bin ilo-vm --features postgres --target "$as" -- ${linker[@]+"${linker[@]}"})

name=ilo-vm
case $target in *-windows-*) name=ilo-vm.exe ;; esac
mkdir -p "$out/$target"
cp "${CARGO_TARGET_DIR:-$root/target}/$target/$PROFILE/$name" "$out/$target/$name"
# Licence texts and contents, which go with the program wherever it goes.
python3 "$release/notices.py" --target "$target" --out "$out/$target"
ls -l "$out/$target/$name"
