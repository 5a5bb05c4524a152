#!/usr/bin/env python3
"""Writes the npm packages: one with the program for each platform, and `ilo-vm`, whose commands start it.

usage: npm.py platform TARGET     needs release/build.sh TARGET
       npm.py library             needs `npm ci && npm run build` in bindings/js

The packages are folders in release/out/npm, and beside them files for `npm publish`. Only `ilo-vm` from here names the packages of the
platforms: they are published first.
"""
import json, pathlib, shutil, subprocess, sys

RELEASE = pathlib.Path(__file__).resolve().parent
ROOT = RELEASE.parent
JS = ROOT / "bindings" / "js"
OUT = RELEASE / "out" / "npm"
# Of each target: platform and processor as Node names them.
PLATFORMS = {
    "x86_64-unknown-linux-musl": ("linux", "x64"),
    "aarch64-unknown-linux-musl": ("linux", "arm64"),
    "x86_64-pc-windows-gnu": ("win32", "x64"),
    "x86_64-apple-darwin": ("darwin", "x64"),
    "aarch64-apple-darwin": ("darwin", "arm64"),
}


def licences(folder, manifest, package, target):
    for name in ("LICENSE-APACHE", "LICENSE-MIT"):
        shutil.copy(ROOT / name, folder / name)
    subprocess.run([sys.executable, RELEASE / "notices.py", "--manifest", manifest, "--package", package,
                    "--target", target, "--out", folder], check=True)


def fresh(name):
    folder = OUT / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def write(folder, package):
    (folder / "package.json").write_text(json.dumps(package, indent=4) + "\n")
    packed = subprocess.run(["npm", "pack", "--json", "--pack-destination", OUT, folder], check=True, capture_output=True, text=True)
    file = OUT / json.loads(packed.stdout)[0]["filename"].replace("@", "").replace("/", "-")
    subprocess.run([RELEASE / "smaller.sh", file], check=True)
    print(file, file.stat().st_size)


def platform(target):
    system, processor = PLATFORMS[target]
    program = "ilo-vm.exe" if system == "win32" else "ilo-vm"
    source = RELEASE / "out" / target / program
    if not source.exists():
        sys.exit(f"npm.py: there is no program; run release/build.sh {target}")
    name = f"@ilo-vm/{system}-{processor}"
    folder = fresh(name)
    shutil.copy(source, folder / program)
    (folder / program).chmod(0o755)
    licences(folder, "Cargo.toml", "ilo-cli", target)
    (folder / "README.md").write_text(f"The program of the npm package `ilo-vm` for {system} on {processor}.\n")
    ours = json.loads((JS / "package.json").read_text())
    write(folder, {"name": name, "version": ours["version"], "description": f"The program ilo-vm for {system} on {processor}",
                   "license": ours["license"], "os": [system], "cpu": [processor], "preferUnplugged": True})


def library():
    package = json.loads((JS / "package.json").read_text())
    for unwanted in ("private", "scripts", "devDependencies"):
        package.pop(unwanted, None)
    package["optionalDependencies"] = {f"@ilo-vm/{system}-{processor}": package["version"] for system, processor in PLATFORMS.values()}
    folder = fresh("ilo-vm")
    for name in package["files"]:
        source = JS / name
        if source.is_dir():
            shutil.copytree(source, folder / name)
        elif source.exists():
            shutil.copy(source, folder / name)
        else:
            sys.exit(f"npm.py: there is no {source}; run `npm ci && npm run build` in bindings/js")
    package["files"] = [*package["files"], "LICENSE-*", "NOTICES.txt", "sbom.cdx.json"]
    licences(folder, "bindings/Cargo.toml", "ilo-js", "wasm32-unknown-unknown")
    write(folder, package)


def main():
    arguments = sys.argv[1:]
    if arguments == ["library"]:
        library()
    elif len(arguments) == 2 and arguments[0] == "platform" and arguments[1] in PLATFORMS:
        platform(arguments[1])
    else:
        sys.exit(f"{__doc__}\nTARGET is one of {', '.join(PLATFORMS)}")


if __name__ == "__main__":
    main()
