#!/usr/bin/env python3
"""Runs the static program as nobody in a root folder that has nothing else: no /proc, /etc or /tmp. This is what the image has.

usage: static.py            as root; needs release/build.sh x86_64-unknown-linux-musl
"""
import os, shutil, sys

from steps import OUT, OUTCOME, ROOT, expect, fail, folder, run, serves

NOBODY = "65534:65534"


def main():
    program = OUT / "x86_64-unknown-linux-musl/ilo-vm"
    if not program.exists() or os.geteuid() != 0:
        sys.exit("static.py: as root, after release/build.sh x86_64-unknown-linux-musl")
    root = folder()
    root.chmod(0o755)
    for file in (program, ROOT / "examples/notify.ilo", ROOT / "examples/mocks.json"):
        shutil.copy(file, root)
    (root / "web.json").write_text('{"mcpServers": {"web": {"url": "https://localhost/mcp"}}}')
    inside = ["/usr/sbin/chroot", f"--userspec={NOBODY}", root, "/ilo-vm"]
    arguments = ["run", "notify.ilo", "--tools", "mocks.json", "--arg", "user-id=u1", "--arg", "message=Hello"]
    expect(run([*inside, *arguments], {}).stdout, OUTCOME, "run")
    serves([*inside, "serve"], {})
    if "ca-certificates" not in run([*inside, "tools", "--tools", "web.json"], {}).stderr:
        fail("nothing is said about certificates")
    bundle = "/etc/ssl/certs/ca-certificates.crt"
    if not os.path.exists(bundle):
        sys.exit(f"static.py: there is no {bundle}; install ca-certificates")
    (root / bundle[1:]).parent.mkdir(parents=True)
    shutil.copy(bundle, root / bundle[1:])
    if "HTTP client" in run([*inside, "tools", "--tools", "web.json"], {}).stderr:
        fail("the certificates are not found")
    print("1 passed, 0 failed")


if __name__ == "__main__":
    main()
