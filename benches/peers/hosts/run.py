#!/usr/bin/env python3
"""Builds the hosts of this folder from nothing, one after another, runs them, and prints what they are beside
each other: run.py [--save | --lines] [HOST…]. `--save` writes the tables into README.md, `--lines` only counts lines. Needs
Linux and a C compiler.
"""
import os, pathlib, re, resource, shutil, subprocess, sys, tempfile, time

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parents[2]
OURS = "".join(f'ilo-{name} = {{ path = "{ROOT / name}" }}\n' for name in ["asm", "vm"])
LUA = 'mlua = {{ version = "0.12", features = ["async", "send", "vendored", "{}"] }}'
# The name, the package, its feature, and what an embedder of the engine alone depends on.
HOSTS = [
    ("ilo", "ilo", None, OURS),
    ("Lua 5.4, mlua 0.12", "lua", "lua54", LUA.format("lua54")),
    ("LuaJIT, mlua 0.12", "lua", "luajit", LUA.format("luajit")),
    ("Python, Monty 1.4", "monty", None, 'monty = "1.4"\nmonty-types = "1.4"'),
]
WHAT = ["approved", "refused", "declined", "too late", "computing too long", "cancelled", "cancelled while it computes"]


def lines(package):
    """Lines of code of a host, without blank ones, comments and the program that it runs."""
    text = (FOLDER / package / "src/main.rs").read_text()
    text = re.sub(r'const PROGRAM: &str = ".*?^";', "", text, flags=re.S | re.M)
    return sum(1 for line in text.splitlines() if line.strip() and not line.strip().startswith("//"))


def cargo(folder, *arguments):
    """Runs cargo in a folder. Returns what it printed, and the processor time in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "CARGO_INCREMENTAL": "0", "CARGO_TERM_COLOR": "never"}
    for name in ["CARGO_TARGET_DIR", "RUSTUP_TOOLCHAIN"]:
        environment.pop(name, None)
    done = subprocess.run(["cargo", *arguments], cwd=folder, env=environment, text=True, capture_output=True)
    if done.returncode:
        sys.exit(done.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def first():
    """What a measured program is started by, so that other work of the machine does not count: `chrt`, if it may be used."""
    chrt = ["chrt", "-r", "1"]
    usable = shutil.which("chrt") and subprocess.run([*chrt, "true"], capture_output=True).returncode == 0
    return chrt if usable else []


def crates(folder, *features):
    """The other crates that are compiled for a package, build scripts and macros included."""
    tree, _ = cargo(folder, "tree", "-e", "normal,build", "--prefix", "none", *features)
    return len({line.split(" (")[0] for line in tree.splitlines() if line}) - 1


def measure(package, feature, engine):
    features = ["--features", feature] if feature else []
    host = FOLDER / package
    with tempfile.TemporaryDirectory() as place:
        target, embedder = ["--target-dir", f"{place}/target"], pathlib.Path(place) / "embedder"
        (embedder / "src").mkdir(parents=True)
        (embedder / "src/main.rs").write_text("fn main() {}\n")
        manifest = f'[package]\nname = "embedder"\nversion = "0.0.0"\nedition = "2024"\n\n[workspace]\n\n[dependencies]\n{engine}\n'
        (embedder / "Cargo.toml").write_text(manifest)
        shutil.copy(host / "Cargo.lock", embedder)
        shutil.copy(FOLDER / "rust-toolchain.toml", embedder)
        cargo(host, "fetch", "--locked")
        _, alone = cargo(embedder, "build", "--release", "--offline", *target)
        _, rest = cargo(host, "build", "--release", "--locked", *features, *target)
        program = pathlib.Path(place) / f"target/release/peer-host-{package}"
        printed = subprocess.run([*first(), program], check=True, text=True, capture_output=True).stdout
        size, few = program.stat().st_size, crates(embedder)
    found = {
        "lines": lines(package),
        "engine": f"{few} crates, {alone:.0f} s",
        "host": f"{crates(host, *features)} crates, {alone + rest:.0f} s; {size / 1e6:.1f} MB",
        **dict(line.split(": ", 1) for line in printed.splitlines()),
    }
    print(*(f"{name}: {what}" for name, what in found.items()), sep="\n", end="\n\n", flush=True)
    return found


def table(head, rows):
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in [head, ["---"] * len(head), *rows])


def main():
    asked = [word for word in sys.argv[1:] if not word.startswith("--")]
    chosen = [host for host in HOSTS if not asked or any(word.lower() in host[0].lower() for word in asked)]
    if "--lines" in sys.argv:
        return print(*(f"{package}: {lines(package)}" for package in dict.fromkeys(host[1] for host in chosen)), sep="\n")
    found = {name: measure(package, feature, engine) for name, package, feature, engine in chosen}
    rows = [
        ("lines of the host", "lines"),
        ("the engine alone, built from nothing: processor time", "engine"),
        ("the host, built from nothing: processor time, program", "host"),
        ("a run with two calls that answer at once, processor time", "a run"),
        ("a run that waits in its second call, memory", "a run that waits"),
        ("such a run from its start to its end by a cancel, processor time", "such a run, cancelled"),
    ]
    text = table(["", *found], [(label, *(one[key] for one in found.values())) for label, key in rows])
    ended = lambda said: re.sub(r"reserved;.*", "left reserved", said)
    text += "\n\n" + table(["", *found], [(label, *(ended(one[label]) for one in found.values())) for label in WHAT])
    load = os.getloadavg()[0]
    text = f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores of x86-64, at a load of {load:.1f}.\n\n{text}\n"
    print(text)
    if "--save" in sys.argv:
        page = FOLDER / "README.md"
        begin, end = "<!-- written by run.py -->\n", "<!-- end -->"
        before, after = page.read_text().split(begin)
        page.write_text(before + begin + text + end + after.split(end, 1)[1])


if __name__ == "__main__":
    main()
