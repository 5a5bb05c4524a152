// The commands of the package: which program they start, and what they do with signals, exit codes and a missing package. The
// program is a script of Node here, which tells what it was given.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

const folder = mkdtempSync(join(tmpdir(), "ilo-launcher-"));
after(() => rmSync(folder, { recursive: true }));
const launcher = join(folder, "node_modules", "ilo-vm");
cpSync(new URL("../bin", import.meta.url), join(launcher, "bin"), { recursive: true });
writeFileSync(join(launcher, "package.json"), '{"type":"module"}');
const command = (name) => join(launcher, "bin", `${name}.js`);
const unix = process.platform !== "win32";

/** Installs a program for this platform. */
function install(lines) {
    const platform = join(folder, "node_modules", "@ilo-vm", `${process.platform}-${process.arch}`);
    mkdirSync(platform, { recursive: true });
    writeFileSync(join(platform, "package.json"), "{}");
    writeFileSync(join(platform, "ilo-vm"), ["#!/bin/sh", ...lines, ""].join("\n"));
    chmodSync(join(platform, "ilo-vm"), 0o755);
}

test("without the platform's package the command says which one, and exits with 69", () => {
    rmSync(join(folder, "node_modules", "@ilo-vm"), { recursive: true, force: true });
    const { status, stderr } = spawnSync(process.execPath, [command("ilo-vm"), "--version"], { encoding: "utf8" });
    assert.equal(status, 69);
    assert.match(stderr, new RegExp(`@ilo-vm/${process.platform}-${process.arch} is not installed`));
});

test("arguments and exit codes pass", { skip: !unix }, () => {
    install(['printf "%s\\n" "$@"', "exit 3"]);
    const run = spawnSync(process.execPath, [command("ilo-vm"), "run", "a b", "--x"], { encoding: "utf8" });
    assert.deepEqual([run.status, run.stdout], [3, "run\na b\n--x\n"]);
});

test("a signal to the launcher alone reaches the program once, and its end is the launcher's", { skip: !unix }, async () => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
        const name = signal.slice(3);
        install(["n=0", "i=0", `trap 'n=$((n+1))' ${name}`, "echo ready", 'while [ $i -lt 10 ]; do sleep 0.05; i=$((i+1)); done', "exit $((10+n))"]);
        const child = spawn(process.execPath, [command("ilo-vm")], { stdio: ["pipe", "pipe", "inherit"] });
        child.stdout.once("data", () => child.kill(signal));
        const code = await new Promise((resolve) => child.on("exit", resolve));
        assert.equal(code, 11, signal);
    }
});
