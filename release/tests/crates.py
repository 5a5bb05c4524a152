#!/usr/bin/env python3
"""Packs the nine crates as `cargo publish` does, and builds and tests four of them from their packages.

usage: crates.py [--only-pack]
"""
import os, pathlib, re, shutil, subprocess, sys, tarfile

from steps import ROOT, fail, folder

CRATES = ["spec", "asm", "vm", "graph", "guide", "drive", "journal", "host", "cli"]
TESTED = ["ilo-spec", "ilo-vm", "ilo-asm", "ilo-cli"]
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))


def cargo(arguments, cwd):
    print(f"$ cargo {' '.join(arguments)}", flush=True)
    subprocess.run(["cargo", *arguments], cwd=cwd, check=True)


def links(readme):
    """Links of a README that end nowhere on the page of a registry."""
    return [link for link in re.findall(r"\]\(([^)#]+)[^)]*\)", readme) if not link.startswith("http")]


def unpacked(place):
    """Unpacks the packages. Returns the folder of each, by the name of the crate."""
    found = {}
    for name in (f"ilo-{crate}" for crate in CRATES):
        package = next((TARGET / "package").glob(f"{name}-[0-9]*.crate"), None)
        if package is None:
            fail(f"there is no package of {name}")
        with tarfile.open(package) as archive:
            archive.extractall(place, filter="data")
        inside = place / package.stem
        lacking = [file for file in ("README.md", "LICENSE-MIT", "LICENSE-APACHE") if not (inside / file).is_file()]
        dead = [link for link in links((inside / "README.md").read_text()) if not (inside / link).exists()]
        print(f"{package.name}: {package.stat().st_size} bytes")
        if lacking or dead:
            fail(f"{package.name} has no {lacking}, and links that end nowhere: {dead}")
        found[name] = inside
    return found


def main():
    shutil.rmtree(TARGET / "package", ignore_errors=True)
    names = [word for crate in CRATES for word in ("-p", f"ilo-{crate}")]
    cargo(["package", "--quiet", "--locked", "--allow-dirty", "--no-verify", *names], ROOT)
    place = folder()
    packages = unpacked(place)
    if "--only-pack" not in sys.argv[1:]:
        # They are not published, so each is told where the others are.
        config = "".join(f'{name}.path = "{path}"\n' for name, path in packages.items())
        (place / ".cargo").mkdir()
        # The profile of the clone, so that what it has built of other crates is used.
        profile = re.findall(r"^\[profile\.dev.*?(?=^\[(?!profile\.dev))", (ROOT / "Cargo.toml").read_text(), re.M | re.S)
        (place / ".cargo/config.toml").write_text(f"[patch.crates-io]\n{config}\n{''.join(profile)}")
        for name in TESTED:
            shutil.copy(ROOT / "Cargo.lock", packages[name] / "Cargo.lock")
            cargo(["test", "--quiet", "--target-dir", str(TARGET)], packages[name])
    shutil.rmtree(place)
    print(f"{len(packages)} passed, 0 failed")


if __name__ == "__main__":
    main()
