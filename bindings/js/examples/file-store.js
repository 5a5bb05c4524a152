// A store for durable runs in a folder of files, for Node, Bun and Deno: each record is a file `NAME/VERSION`.
//
// A record is written beside, flushed, and then linked to its name, which fails where the name is there already: so
// of two processes that write one version only one gets `true`. The last two records are kept.
import { link, mkdir, open, readFile, readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";

export class FileStore {
    constructor(folder) {
        this.folder = folder;
    }

    #of(name) {
        // A name may contain characters that a file name may not, such as `/`.
        return join(this.folder, Buffer.from(name).toString("hex"));
    }

    async #versions(name) {
        const files = await readdir(this.#of(name)).catch((error) => {
            if (error.code === "ENOENT") return [];
            throw error;
        });
        return files.filter((file) => /^\d+$/.test(file)).map(Number).sort((a, b) => a - b);
    }

    async read(name) {
        // A record that another process removes meanwhile has been replaced by a newer one.
        for (;;) {
            const version = (await this.#versions(name)).at(-1);
            if (version === undefined) return undefined;
            try {
                return { version, record: await readFile(join(this.#of(name), String(version)), "utf8") };
            } catch (error) {
                if (error.code !== "ENOENT") throw error;
            }
        }
    }

    async write(name, version, record) {
        const folder = this.#of(name);
        const versions = await this.#versions(name);
        if ((versions.at(-1) ?? 0) !== version - 1) return false;
        if (version === 1) {
            await mkdir(folder, { recursive: true });
            await flush(dirname(folder));
        }
        const draft = join(folder, `${version}.${process.pid}.${Math.random().toString(36).slice(2)}`);
        try {
            await written(draft, record);
            await link(draft, join(folder, String(version)));
            await flush(folder);
            // Other processes may have written this version and later ones, and removed this one, since the check
            // above.
            if ((await this.#versions(name)).at(-1) !== version) {
                await rm(join(folder, String(version)), { force: true });
                return false;
            }
        } catch (error) {
            if (error.code === "EEXIST") return false;
            throw error;
        } finally {
            await rm(draft, { force: true });
        }
        for (const old of versions) if (old < version - 1) await rm(join(folder, String(old)), { force: true });
        return true;
    }
}

async function written(path, text) {
    const handle = await open(path, "wx");
    try {
        await handle.writeFile(text);
        await handle.sync();
    } finally {
        await handle.close();
    }
}

// Makes the names in a folder survive a loss of power.
async function flush(folder) {
    const handle = await open(folder);
    try {
        await handle.sync();
    } finally {
        await handle.close();
    }
}
