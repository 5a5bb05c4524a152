#!/usr/bin/env bash
# Packs what is downloaded: release/archive.sh TARGET
#
# Needs the program of release/build.sh TARGET. The archive has the program under both names, completions, manual pages, licences,
# and a list of what is inside; beside it is its SHA-256. A program of another system cannot write its completions and
# pages here: those of this system's program are taken (`ilo-vm` on PATH, or ILO_VM).
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

target=${1:?"usage: release/archive.sh TARGET; release/build.sh lists the targets"}
name=ilo-$version-$target folder=$out/archives/ilo-$version-$target
rm -rf "$folder"
mkdir -p "$folder/completions" "$folder/man"
case $target in
*-windows-*)
    cp "$out/$target/ilo-vm.exe" "$folder/"
    cp "$out/$target/ilo-vm.exe" "$folder/ilo-asm.exe"
    ;;
*)
    cp "$out/$target/ilo-vm" "$folder/"
    ln -s ilo-vm "$folder/ilo-asm"
    ;;
esac
program=${ILO_VM:-$folder/ilo-vm}
"$program" --version >/dev/null 2>&1 || program=$(command -v ilo-vm) || { echo "release/archive.sh: $target does not run here; set ILO_VM to a program that does" >&2; exit 69; }
for shell in bash fish zsh; do
    "$program" completions $shell > "$folder/completions/ilo-vm.$shell"
    "$program" asm completions $shell > "$folder/completions/ilo-asm.$shell"
done
"$program" man "$folder/man"
"$program" asm man "$folder/man"
cp "$root/LICENSE-APACHE" "$root/LICENSE-MIT" "$root/README.md" "$folder/"
python3 "$release/notices.py" --target "$target" --out "$folder"
cd "$out/archives"
case $target in
*-windows-*) archive=$name.zip && python3 -m zipfile -c "$archive" "$name" ;;
*) archive=$name.tar.gz && tar --sort=name --owner=0 --group=0 --numeric-owner -czf "$archive" "$name" && "$release/smaller.sh" "$archive" ;;
esac
sha256sum "$archive" > "$archive.sha256"
ls -l "$archive"
