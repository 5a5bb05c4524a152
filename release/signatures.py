"""signatures.py [CRATE…] fails if a public signature of a crate has a type of a crate that its users must not depend on, or if
rustdoc warns of something in the workspace.

It reads what rustdoc says about the public items, with those that are hidden in the documentation; only a hidden impl of a
trait may have such a type, since none can be private. rustdoc writes that as JSON only with RUSTC_BOOTSTRAP, which is set for
rustdoc alone: cargo would compile all dependencies again.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

CRATES = ["ilo-spec", "ilo-asm", "ilo-vm", "ilo-graph", "ilo-guide", "ilo-drive", "ilo-journal", "ilo-host"]
FORBIDDEN = {"bumpalo", "postgres", "rmcp", "rusqlite", "smallvec"}
ROOT = pathlib.Path(__file__).resolve().parent.parent


def types(part):
    """The identifiers of all types and traits within a part of a signature, whose other items it only names."""
    if isinstance(part, list):
        for inner in part:
            yield from types(inner)
    elif isinstance(part, dict):
        if isinstance(part.get("id"), int) and ("path" in part or "source" in part):
            yield part["id"]
        for name, inner in part.items():
            if name not in ("items", "impls", "implementations"):
                yield from types(inner)


def found(documented):
    """The public items of a crate with the paths of forbidden types in them."""
    names = {int(number): crate["name"] for number, crate in documented["external_crates"].items()}
    paths, passed = documented["paths"], set()
    for item in documented["index"].values():
        within = item["inner"].get("impl", {})
        if within.get("blanket_impl") or (within and "doc(hidden)" in str(item["attrs"])):
            passed |= {item["id"], *within["items"]}
    for item in documented["index"].values():
        if item["crate_id"] != 0 or item["id"] in passed:
            continue
        for number in types(item["inner"]):
            path = paths.get(str(number))
            if path and names.get(path["crate_id"]) in FORBIDDEN:
                place = item["span"] or {"filename": "", "begin": [0]}
                yield f"{place['filename']}:{place['begin'][0]}: {item['name'] or 'impl'}: {'::'.join(path['path'])}"


def main():
    crates = sys.argv[1:] or CRATES
    with tempfile.TemporaryDirectory() as folder:
        rustdoc = pathlib.Path(folder) / "rustdoc"
        real = subprocess.check_output(["rustup", "which", "rustdoc"], cwd=ROOT, text=True).strip()
        rustdoc.write_text(f'#!/bin/sh\nRUSTC_BOOTSTRAP=1 exec "{real}" "$@"\n')
        rustdoc.chmod(0o755)
        # All crates at once, so that nothing is checked again for the features of one: together they have all features.
        flags = "-D warnings -Z unstable-options --output-format json --document-hidden-items"
        command = ["cargo", "doc", "--quiet", "--workspace", "--no-deps", "--locked", "--features", "ilo-cli/postgres"]
        subprocess.run(command, cwd=ROOT, env={**os.environ, "RUSTDOC": str(rustdoc), "RUSTDOCFLAGS": flags}, check=True)
        target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
        wrong = []
        for crate in crates:
            read = json.loads((target / "doc" / f"{crate.replace('-', '_')}.json").read_text())
            wrong += found(read)
        print("\n".join(sorted(set(wrong))) or f"{len(crates)} crates: no type of {', '.join(sorted(FORBIDDEN))}")
        return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
