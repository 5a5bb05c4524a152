#!/usr/bin/env python3
"""Adds the program, the command `ilo-asm`, licences and lists of contents to a wheel that maturin has built.

usage: pack_wheel.py WHEEL --program FILE --notices DIR --out DIR
"""
import argparse, base64, hashlib, pathlib, zipfile

import deflate

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMMAND = "[console_scripts]\nilo-asm = ilo._assembler:main\n"


class Smallest:
    """A compressor as `zipfile` uses them, of libdeflate: a wheel is 4 % smaller than with zlib's best."""

    def __init__(self):
        self.data = b""

    def compress(self, data):
        self.data += data
        return b""

    def flush(self):
        return deflate.deflate_compress(self.data, 12)


def added(wheel, program, notices):
    """The files to add, by name: their bytes, and whether they are executable."""
    stem = "-".join(wheel.name.split("-")[:2])
    info = f"{stem}.dist-info"
    files = {f"{stem}.data/scripts/{program.name}": (program.read_bytes(), True)}
    for licence in ("LICENSE-APACHE", "LICENSE-MIT"):
        files[f"{info}/licenses/{licence}"] = ((ROOT / licence).read_bytes(), False)
    for part in ("program", "library"):
        files[f"{info}/licenses/NOTICES-{part}.txt"] = ((notices / part / "NOTICES.txt").read_bytes(), False)
        files[f"{info}/sboms/ilo-{part}.cdx.json"] = ((notices / part / "sbom.cdx.json").read_bytes(), False)
    return info, files


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=pathlib.Path)
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--notices", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    args = parser.parse_args()
    info, files = added(args.wheel, args.program, args.notices)
    zipfile._get_compressor = lambda kind, level=None: Smallest() if kind == zipfile.ZIP_DEFLATED else None
    rows = []
    with zipfile.ZipFile(args.wheel) as old, zipfile.ZipFile(args.out / args.wheel.name, "w", zipfile.ZIP_DEFLATED) as new:

        def write(name, data, executable):
            entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            entry.external_attr = (0o100755 if executable else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            new.writestr(entry, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            rows.append(f"{name},sha256={digest},{len(data)}")

        for name in old.namelist():
            if name == f"{info}/RECORD" or name in files:
                continue
            data = old.read(name)
            if name == f"{info}/entry_points.txt":
                data = data.rstrip() + b"\n\n" + COMMAND.encode()
            write(name, data, bool(old.getinfo(name).external_attr >> 16 & 0o100))
        for name, (data, executable) in files.items():
            write(name, data, executable)
        new.writestr(f"{info}/RECORD", "\n".join([*rows, f"{info}/RECORD,,", ""]))
    print(args.out / args.wheel.name, (args.out / args.wheel.name).stat().st_size)


if __name__ == "__main__":
    main()
