#!/usr/bin/env bash
# Builds a wheel with the Python library and both commands: release/wheel.sh TARGET
#
# TARGET is x86_64-unknown-linux, aarch64-unknown-linux (the library for glibc 2.28, the static program), x86_64-pc-windows-gnu
# or, on macOS, x86_64-apple-darwin and aarch64-apple-darwin. Needs the program of release/build.sh. The wheel is in release/out/wheels.
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

target=${1:?"usage: release/wheel.sh TARGET; the head of this file lists the targets"}
library=(--target "$target") program=$target linker=()
case $target in
*-unknown-linux)
    library=(--target "$target-gnu" --zig --compatibility manylinux_2_28) program=$target-musl linker=(-C "linker=$release/linker.sh")
    export TARGET_CFLAGS=$without_tables
    ;;
*-windows-*) library+=(--zig --compatibility windows) ;;
esac
binary=$(ls "$out/$program"/ilo-vm "$out/$program"/ilo-vm.exe 2>/dev/null || true)
[ -n "$binary" ] || { echo "release/wheel.sh: there is no program; run release/build.sh $program" >&2; exit 66; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ "$PROFILE" = trial ]; then library+=(--profile trial); fi
if command -v rustup >/dev/null; then rustup target add "${library[1]}" 2>/dev/null; fi
(cd "$root/bindings" && maturin build --quiet --locked --manifest-path python/Cargo.toml --features postgres "${library[@]}" --out "$work" \
    -- ${linker[@]+"${linker[@]}"})
python3 "$release/notices.py" --target "$program" --out "$work/program"
python3 "$release/notices.py" --manifest bindings/Cargo.toml --package ilo-python --target "${library[1]}" --out "$work/library"
mkdir -p "$out/wheels"
python3 "$release/pack_wheel.py" "$work"/ilo_vm-*.whl --program "$binary" --notices "$work" --out "$out/wheels"
