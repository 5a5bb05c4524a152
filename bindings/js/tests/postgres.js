// A PostgreSQL server in a folder of its own, for tests: Debian's package, or what is in the path.
import { execFileSync } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const DEBIAN = "/usr/lib/postgresql";

function programs() {
    const debian = existsSync(DEBIAN) ? readdirSync(DEBIAN).map((version) => join(DEBIAN, version, "bin")) : [];
    return [...debian, ...(process.env.PATH ?? "").split(":")]
        .find((folder) => existsSync(join(folder, "initdb")) && existsSync(join(folder, "postgres")));
}

async function freePort() {
    const probe = createServer();
    await new Promise((done) => probe.listen(0, "127.0.0.1", done));
    const { port } = probe.address();
    await new Promise((done) => probe.close(done));
    return port;
}

/** Starts a server. Gives its address and what stops it; nothing where there are no programs for one. */
export async function postgres() {
    const bin = programs();
    if (bin === undefined) return undefined;
    const folder = mkdtempSync(join(tmpdir(), "ilo-postgres-"));
    const port = await freePort();
    // PostgreSQL refuses to run as root.
    const as = process.getuid() === 0 ? ["runuser", "-u", "postgres", "--"] : [];
    if (as.length > 0) {
        const id = (flag) => Number(execFileSync("id", [flag, "postgres"]));
        chownSync(folder, id("-u"), id("-g"));
    }
    const run = (name, ...more) => {
        const [program, ...rest] = [...as, join(bin, name), "-D", join(folder, "data"), ...more];
        execFileSync(program, rest, { cwd: "/", stdio: "ignore", timeout: 120_000 });
    };
    run("initdb", "--username=ilo", "--auth=trust", "--no-sync");
    run("pg_ctl", "-w", "-l", join(folder, "log"), "-o", `-p ${port} -c unix_socket_directories=''`, "start");
    const stop = () => {
        run("pg_ctl", "-m", "immediate", "stop");
        rmSync(folder, { recursive: true });
    };
    return { address: `postgres://ilo@127.0.0.1:${port}/postgres`, stop };
}
