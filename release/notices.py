#!/usr/bin/env python3
"""Writes the licence texts of all crates that a package links, and a list of them (SBOM, CycloneDX 1.6).

usage: notices.py [--manifest Cargo.toml] [--package NAME] --target TARGET --out DIR
       notices.py --check        licences of everything that ships, against deny.toml

Reads `cargo metadata` and the unpacked sources; it needs no network if the sources are there. It fails if a crate has a
licence that deny.toml does not list, or no licence text at all. What is not in cargo's list is named at the head of the
notices: Rust's standard library, SQLite, and the C library of static programs.
"""
import argparse, json, pathlib, re, subprocess, sys, tomllib, uuid

ROOT = pathlib.Path(__file__).resolve().parent.parent
TEXT = re.compile(r"^(licen[cs]e|copying|notice|unlicense|copyright)", re.I)
# What is shipped: manifest, package and target of each thing with dependencies of its own.
SHIPPED = [
    ("Cargo.toml", "ilo-cli", "x86_64-unknown-linux-musl"),
    ("Cargo.toml", "ilo-cli", "aarch64-unknown-linux-musl"),
    ("Cargo.toml", "ilo-cli", "x86_64-pc-windows-gnu"),
    ("Cargo.toml", "ilo-cli", "aarch64-apple-darwin"),
    ("bindings/Cargo.toml", "ilo-python", "x86_64-unknown-linux-gnu"),
    ("bindings/Cargo.toml", "ilo-js", "wasm32-unknown-unknown"),
    ("bindings/Cargo.toml", "ilo-js-guide", "wasm32-unknown-unknown"),
]


# Features of what ships that are not on by default.
FEATURES = {"Cargo.toml": "ilo-cli/postgres", "bindings/Cargo.toml": "ilo-python/postgres"}


def metadata(manifest, target):
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--manifest-path", str(ROOT / manifest)]
    command += ["--features", FEATURES[manifest]]
    return json.loads(subprocess.run([*command, "--filter-platform", target], check=True, capture_output=True, text=True).stdout)


def linked(data, package):
    """The packages that end up in a program: normal dependencies, without macros that run in the compiler."""
    packages = {p["id"]: p for p in data["packages"]}
    nodes = {n["id"]: n for n in data["resolve"]["nodes"]}
    macro = lambda p: any("proc-macro" in t["kind"] for t in p["targets"])
    todo = [next(i for i, p in packages.items() if p["name"] == package)]
    seen = set()
    while todo:
        at = todo.pop()
        if at in seen or macro(packages[at]):
            continue
        seen.add(at)
        for dep in nodes[at]["deps"]:
            if any(kind["kind"] is None for kind in dep["dep_kinds"]):
                todo.append(dep["pkg"])
    return sorted((packages[i] for i in seen), key=lambda p: (p["name"], p["version"]))


def allowed(expression, licences):
    """Whether a licence expression of SPDX can be met with these licences."""
    words = re.findall(r"\(|\)|[^\s()]+", expression.replace("/", " OR "))

    def either():
        value = both()
        while words and words[0] == "OR":
            words.pop(0)
            value = both() or value
        return value

    def both():
        value = one()
        while words and words[0] == "AND":
            words.pop(0)
            value = one() and value
        return value

    def one():
        if not words:
            return False
        word = words.pop(0)
        if word == "(":
            value = either()
            if words:
                words.pop(0)
            return value
        if words and words[0] == "WITH":
            words.pop(0)
            word = f"{word} WITH {words.pop(0)}" if words else word
        return word in licences

    return either() and not words


def texts(package):
    """The licence texts in a package, by name of the file."""
    folder = pathlib.Path(package["manifest_path"]).parent
    files = [f for f in sorted(folder.iterdir()) if f.is_file() and TEXT.match(f.name) and f.suffix not in (".rs", ".html")]
    if not files and (folder / "LICENSES").is_dir():
        files = sorted((folder / "LICENSES").iterdir())
    return {f.name: f.read_text(errors="replace").replace("\r\n", "\n").strip() for f in files}


def own_text(package):
    """The text for a crate that has none with it: ours, or the MIT licence in the name of its authors."""
    if pathlib.Path(package["manifest_path"]).is_relative_to(ROOT):
        return {name: (ROOT / name).read_text().strip() for name in ("LICENSE-APACHE", "LICENSE-MIT")}
    if allowed(package["license"] or "", ["MIT"]):
        lines = (ROOT / "LICENSE-MIT").read_text().strip().split("\n")
        holder = f"Copyright (c) {', '.join(package['authors']) or 'the authors of ' + package['name']}"
        return {"MIT": "\n".join(holder if line.startswith("Copyright") else line for line in lines)}
    return {}


def refusals(packages):
    licences = tomllib.loads((ROOT / "deny.toml").read_text())["licenses"]["allow"]
    return [f"{p['name']} {p['version']}: {p['license'] or 'no licence'}" for p in packages
            if not allowed(p["license"] or "", licences)]


def notices(packages):
    """Each different text once, under the crates that have it. Returns the text, and the crates without one."""
    repositories = {}
    for package in packages:
        if found := texts(package):
            repositories.setdefault(package["repository"] or package["name"], found)
    # Texts that differ in blanks alone are one.
    users, texts_of, without = {}, {}, []
    for package in packages:
        found = texts(package) or repositories.get(package["repository"] or "") or own_text(package)
        if not found:
            without.append(f"{package['name']} {package['version']} ({package['license']})")
        for text in found.values():
            key = " ".join(text.split())
            texts_of.setdefault(key, text)
            users.setdefault(key, []).append(f"{package['name']} {package['version']} ({package['license']})")
    parts = ["This program contains the crates below. Each licence text stands under the crates that it belongs to.\n"
             "It also contains Rust's standard library (MIT or Apache-2.0), SQLite (public domain), and, if it is static, musl (MIT)\n"
             "or parts of mingw-w64 (ZPL-2.1 and public domain)."]
    # By text: like ones are near each other, which compresses better.
    for key, names in sorted(users.items()):
        parts.append("\n".join(["=" * 80, *dict.fromkeys(names), "-" * 80, texts_of[key]]))
    return "\n\n".join(parts) + "\n", without


def sbom(packages, root, target):
    purl = lambda p: f"pkg:cargo/{p['name']}@{p['version']}"
    component = lambda p, kind: {"type": kind, "bom-ref": purl(p), "name": p["name"], "version": p["version"],
                                 "purl": purl(p), "licenses": [{"expression": (p["license"] or "NOASSERTION").replace("/", " OR ")}]}
    top = next(p for p in packages if p["name"] == root)
    # The same crates give the same number.
    serial = uuid.uuid5(uuid.NAMESPACE_URL, target + " ".join(purl(p) for p in packages))
    return {"bomFormat": "CycloneDX", "specVersion": "1.6", "serialNumber": f"urn:uuid:{serial}", "version": 1,
            "metadata": {"component": component(top, "application"), "properties": [{"name": "target", "value": target}]},
            "components": [component(p, "library") for p in packages if p is not top]}


def check():
    bad = set()
    for manifest, package, target in SHIPPED:
        packages = linked(metadata(manifest, target), package)
        bad.update(refusals(packages))
        _, without = notices(packages)
        bad.update(f"{name}: no licence text" for name in without)
        print(f"{package} for {target}: {len(packages)} crates")
    return sorted(bad)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--manifest", default="Cargo.toml")
    parser.add_argument("--package", default="ilo-cli")
    parser.add_argument("--target")
    parser.add_argument("--out", type=pathlib.Path)
    args = parser.parse_args()
    if args.check:
        bad = check()
    elif not (args.target and args.out):
        parser.error("--target and --out are needed")
    else:
        packages = linked(metadata(args.manifest, args.target), args.package)
        text, without = notices(packages)
        bad = refusals(packages) + [f"{name}: no licence text" for name in without]
        args.out.mkdir(parents=True, exist_ok=True)
        (args.out / "NOTICES.txt").write_text(text)
        (args.out / "sbom.cdx.json").write_text(json.dumps(sbom(packages, args.package, args.target), indent=1) + "\n")
    for line in bad:
        print(f"error: {line}", file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
