// Starts the program of the platform's package, `@ilo-vm/PLATFORM-ARCH`, in place of this process if Node can do that.

import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { isatty } from "node:tty";

/** The platforms that have a package, as `process.platform` and `process.arch` name them. */
const PLATFORMS = ["linux-x64", "linux-arm64", "win32-x64", "darwin-x64", "darwin-arm64"];
/** `EX_UNAVAILABLE` of sysexits.h. */
const UNAVAILABLE = 69;

/** The path of the program, or undefined. */
function program() {
    const file = process.platform === "win32" ? "ilo-vm.exe" : "ilo-vm";
    try {
        return createRequire(import.meta.url).resolve(`@ilo-vm/${process.platform}-${process.arch}/${file}`);
    } catch {
        return undefined;
    }
}

/** Why there is no program, and what to do. */
function missing() {
    const platform = `${process.platform}-${process.arch}`;
    if (PLATFORMS.includes(platform)) {
        return (
            `ilo-vm: the package @ilo-vm/${platform} is not installed. It is an optional dependency of ilo-vm: ` +
            "install without --omit=optional (npm) or --no-optional (pnpm, yarn), and on this platform rather than another one."
        );
    }
    return (
        `ilo-vm: there is no package with the program for ${platform}; there is one for ${PLATFORMS.join(", ")}. ` +
        "With Rust, `cargo install ilo-cli` builds it. The library, `import \"ilo-vm\"`, runs here without it."
    );
}

/**
 * Runs the program and ends with its exit code.
 * @param {string} name The name that it is called by: `ilo-vm`, or `ilo-asm` for the assembler.
 */
export function start(name) {
    const path = program();
    if (path === undefined) {
        console.error(missing());
        process.exit(UNAVAILABLE);
    }
    const given = process.argv.slice(2);
    // No second process, and no signals to pass on. Node 22.15 has it, but not on Windows.
    if (process.platform !== "win32" && typeof process.execve === "function") {
        process.execve(path, [name, ...given], process.env);
    }
    // A terminal sends Ctrl-C to both processes, and a second signal would end a run without its rollback.
    const terminal = [0, 1, 2].some((stream) => isatty(stream));
    for (const signal of ["SIGINT", "SIGHUP"]) process.on(signal, () => terminal || child.kill(signal));
    process.on("SIGTERM", () => child.kill("SIGTERM"));
    const child = spawn(path, name === "ilo-asm" ? ["asm", ...given] : given, { stdio: "inherit" });
    child.on("error", (error) => {
        console.error(`ilo-vm: ${path} does not start: ${error.message}`);
        process.exit(UNAVAILABLE);
    });
    child.on("exit", (code, signal) => {
        if (signal === null) process.exit(code ?? 1);
        process.removeAllListeners(signal);
        process.kill(process.pid, signal);
    });
}
