#!/usr/bin/env python3
"""Publishes the npm packages to a registry on this machine, and installs and uses them without Rust.

usage: npm.py              needs release/npm.py library, release/npm.py platform x86_64-unknown-linux-musl, Node, and the npm
                           registry once, for verdaccio
"""
import json, os, pathlib, shutil, signal, socket, subprocess, sys, time, urllib.request

import steps
from steps import EXAMPLE, OUT, OUTCOME, environment, expect, fail, folder, run, serves

PACKAGES = OUT / "npm"
TOOLS = OUT / "verdaccio"
LIBRARY = '''
import * as ilo from "ilo-vm";
const tools = new ilo.Tools({ get_user: { execute: () => ({ name: "Ada" }) } });
const source = `{"function": "greet", "input": {"id": "number"}, "output": "text", "steps": [
    {"let": "user", "call": "get_user", "args": {"user_id": "$input.id"}}, {"return": "Hello, $user.name"}]}`;
console.log((await ilo.build(source, { tools }).run({ id: 7 })).value);
'''


def registry(place, passes_on=False):
    """Starts verdaccio, which has our packages and, where it passes on, those of the npm registry. Returns process and address."""
    if not (TOOLS / "node_modules/verdaccio").exists():
        TOOLS.mkdir(parents=True, exist_ok=True)
        # Its own version of node-fetch does not run on Node 20.
        package = {"private": True, "dependencies": {"verdaccio": "6.8.0"}, "overrides": {"node-fetch": "2.7.0"}}
        (TOOLS / "package.json").write_text(json.dumps(package))
        subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund"], cwd=TOOLS, check=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    rights = "access: $all, publish: $all, unpublish: $all"
    others = f"{rights}, proxy: npmjs" if passes_on else rights
    (place / "verdaccio.yaml").write_text(
        f"storage: {place}/storage\nauth:\n  htpasswd:\n    file: {place}/htpasswd\n"
        "uplinks: { npmjs: { url: 'https://registry.npmjs.org/' } }\n"
        f"packages:\n  ilo-vm: {{ {rights} }}\n  '@ilo-vm/*': {{ {rights} }}\n  '**': {{ {others} }}\n"
        "max_body_size: 100mb\nlog: { type: stdout, level: error }\n")
    command = [TOOLS / "node_modules/.bin/verdaccio", "--config", place / "verdaccio.yaml", "--listen", address]
    process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL)
    for _ in range(600):
        try:
            urllib.request.urlopen(f"http://{address}/-/ping", timeout=1).close()
            return process, f"http://{address}/"
        except OSError:
            time.sleep(0.1)
    fail("the registry does not start")


def home_for(place, name, url):
    home = place / name
    home.mkdir()
    (home / ".npmrc").write_text(f"registry={url}\n//{url.split('//')[1]}:_authToken=nobody\nupdate-notifier=false\naudit=false\nfund=false\n")
    return home


def publish(place, url):
    env = environment(home_for(place, "publisher", url))
    platform = PACKAGES / "@ilo-vm/linux-x64"
    for package in (platform, PACKAGES / "ilo-vm"):
        if not package.is_dir():
            sys.exit(f"npm.py: there is no {package}; run release/npm.py")
        version = json.loads((package / "package.json").read_text())["version"]
        file = PACKAGES / f"{'-'.join(package.relative_to(PACKAGES).parts).removeprefix('@')}-{version}.tgz"
        size = sum(f.stat().st_size for f in package.rglob("*") if f.is_file())
        run(["npm", "publish", "--silent", file], env, cwd=place)
        print(f"    {package.name}: {file.stat().st_size} bytes, {size} unpacked")
    # One that this platform must not fetch.
    other = place / "darwin-arm64"
    shutil.copytree(platform, other, ignore=shutil.ignore_patterns("ilo-vm", "NOTICES.txt", "sbom*"))
    package = json.loads((other / "package.json").read_text())
    package |= {"name": "@ilo-vm/darwin-arm64", "os": ["darwin"], "cpu": ["arm64"]}
    (other / "package.json").write_text(json.dumps(package))
    run(["npm", "publish", "--silent", other], env, cwd=place, quiet=True)


def used(place, url):
    home = home_for(place, "home", url)
    env = environment(home)
    for time_of in ("first", "second"):
        print(f"npx, {time_of} time:")
        expect(run(["npx", "-y", "ilo-vm", *EXAMPLE], env).stdout, OUTCOME, "npx")
    run(["npx", "-y", "--package", "ilo-vm", "ilo-asm", "--version"], env)
    serves(["npx", "-y", "ilo-vm", "serve"], env)
    # npx ends by the signal itself, after the program.
    steps.on_terminal("npx", ["npx", "-y", "ilo-vm"], env, (130, -signal.SIGINT))
    leaves(["npx", "-y", "ilo-vm", "serve"], env)

    project = place / "project"
    project.mkdir()
    (project / "package.json").write_text('{"private": true, "type": "module"}')
    run(["npm", "install", "--silent", "ilo-vm"], env, cwd=project)
    expect(sorted(p.name for p in (project / "node_modules/@ilo-vm").iterdir()), ["linux-x64"], "the platform's packages")
    (project / "main.js").write_text(LIBRARY)
    expect(run(["node", "main.js"], env, cwd=project).stdout, "Hello, Ada\n", "the library")
    launcher = project / "node_modules/.bin/ilo-vm"
    for command in ("ilo-vm", "ilo-asm"):
        run([launcher.with_name(command), "--version"], env)
    steps.on_terminal("the launcher", [launcher], env)
    steps.with_signal("the launcher", [launcher], env)
    steps.with_signal("the launcher", [launcher], env, signal.SIGINT)
    return env, project, launcher


def leaves(command, env):
    """npx ends at once at SIGTERM and passes nothing on; the server ends when its input is closed."""
    tools = folder() / "tools.json"
    tools.write_text('{"tools": {}}')
    client = steps.Client([*command, "--tools", tools], env)
    client.open()
    client.process.send_signal(signal.SIGTERM)
    code = client.process.wait(30)
    client.process.stdin.close()
    end = time.monotonic() + 20
    while steps.processes(str(tools)):
        if time.monotonic() > end:
            fail("the server goes on after its client has left")
        time.sleep(0.05)
    print(f"npx ilo-vm serve, SIGTERM to npx: exit code {code}; the server has ended with its input")


def hindered(place, env, project, launcher):
    print("no network after installation:")
    gone = {**env, "npm_config_offline": "true"}
    expect(run(["npx", "-y", "ilo-vm", *EXAMPLE], gone).stdout, OUTCOME, "npx without network")
    serves([launcher, "serve"], {"PATH": "/usr/bin"})
    print("a home that cannot be written:")
    expect(run([launcher, *EXAMPLE], {**env, "HOME": "/proc"}).stdout, OUTCOME, "a home that cannot be written")
    print("installed without optional dependencies:")
    bare = place / "bare"
    bare.mkdir()
    (bare / "package.json").write_text('{"private": true, "type": "module"}')
    run(["npm", "install", "--silent", "--omit=optional", "ilo-vm"], env, cwd=bare)
    run([bare / "node_modules/.bin/ilo-vm", "--version"], env, code=69)
    (bare / "main.js").write_text(LIBRARY)
    expect(run(["node", "main.js"], env, cwd=bare).stdout, "Hello, Ada\n", "the library without the program")
    print("a platform without a package:")
    other = "Object.defineProperty(process, 'arch', { value: 'riscv64' });"
    (bare / "other.cjs").write_text(other)
    run(["node", "--require", bare / "other.cjs", bare / "node_modules/ilo-vm/bin/ilo-vm.js"], env, code=69)


def main():
    place = folder()
    process, url = registry(place)
    try:
        publish(place, url)
        hindered(place, *used(place, url))
    finally:
        process.terminate()
        process.wait()
    print("1 passed, 0 failed")


if __name__ == "__main__":
    main()
