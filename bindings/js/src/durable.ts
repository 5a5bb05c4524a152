/** Durable runs: the records of a run in a store of the host, so that the run outlives its process. */

import { isOf, parse, textOf } from "./json.js";
import { StoreError } from "./errors.js";
import type { Call, Suspended } from "./types.js";
import { within } from "./within.js";

/** A store of the host: one record for each name. */
export interface Store {
    /** The record of a name with its version; nothing if there is none. */
    read(name: string): Stored | undefined | Promise<Stored | undefined>;
    /**
     * Puts a record with this version in the place of the one whose version is one less; version 1 is the first.
     *
     * It gives `true` once the record survives a crash. Where the version that is there is another one, it changes
     * nothing and gives `false`. Of two writers of one version only one may get `true`. It has ten seconds: after them
     * the call is not made, and the run is left as it may be there.
     */
    write(name: string, version: number, record: string): boolean | Promise<boolean>;
}

export interface Stored {
    readonly version: number;
    readonly record: string;
}

/** The parts of a run that never change. */
interface Head {
    readonly format: typeof FORMAT;
    /** Whether the record ends with a checksum; those of earlier releases have none. */
    readonly summed?: true;
    /** The beginning of the idempotency key of every call. */
    readonly key: string;
    readonly program: string;
    readonly function: string | null;
    readonly input: string;
    readonly limits: string;
    /** The signatures of its tools when it was started; records of earlier releases have none. */
    readonly tools?: string;
}

/** The call that a run waits for. */
interface At {
    /** Milliseconds that the run has left. */
    readonly left: number;
    readonly snapshot: string;
    readonly call: Call;
}

type State =
    | (At & { readonly state: "calling"; readonly again: boolean })
    | (At & { readonly state: Waits; readonly reason: string; /** What its answer must be. */ readonly expects?: string | null })
    | { readonly state: "ended"; readonly outcome: string };

/** The reason why a run waits for a person. */
export type Waits = Exclude<NonNullable<Suspended["state"]>, "blocked">;

const FORMAT = 1;
/** Milliseconds that a store has to read or write. */
const PATIENCE = 10_000;
/** The end of a record with its checksum. */
const SUM = /,"sum":"([0-9a-f]{16})"\}$/;

/** The parts of a record that identify the program and its arguments. */
export type Beginning = Pick<Head, "function" | "input" | "limits" | "tools"> & { readonly program: Uint8Array };

/** The record of one run, and its updates. */
export class Recording {
    /** The number of the call that a person has allowed. */
    allowed: number | undefined;

    private constructor(
        private readonly store: Store,
        readonly name: string,
        readonly head: Head,
        private version: number,
        readonly state?: State,
    ) {}

    /** A run that is not in the store yet. */
    static fresh(store: Store, name: string, { program, ...rest }: Beginning): Recording {
        const random = crypto.getRandomValues(new Uint8Array(16));
        const key = Array.from(random, (byte) => byte.toString(16).padStart(2, "0")).join("");
        return new Recording(store, name, { format: FORMAT, summed: true, key, program: pack(program), ...rest }, 0);
    }

    /** The run with that name. */
    static async read(store: Store, name: string): Promise<Recording | undefined> {
        const found = await asked(name, "read", () => store.read(name));
        if (found === undefined || found === null) return undefined;
        let all: { head?: Head; state?: State } | undefined;
        let [version, isWhole]: [unknown, boolean] = [undefined, false];
        try {
            const { record } = found;
            version = found.version;
            all = parse(record);
            isWhole = isSummed(record, all?.head?.summed === true);
        } catch {
            all = undefined;
        }
        if (all?.head && !isWhole) throw unreadable(name, "its record is damaged: it is not what was written");
        const { head, state } = all ?? {};
        const at = state && "snapshot" in state && typeof state.call?.number === "number";
        if (head?.format !== FORMAT || !(at || state?.state === "ended") || !Number.isSafeInteger(version)) {
            throw unreadable(name, "its record is not one that this version reads");
        }
        return new Recording(store, name, head, version as number, state);
    }

    /** Whether it is a run of this program with these arguments. */
    isOf({ program, function: name, input }: Beginning): boolean {
        const { head } = this;
        return head.program === pack(program) && head.function === name && head.input === input;
    }

    /** The idempotency key of a call: the same for every attempt. */
    key(call: Call): string {
        return `${this.head.key}-${call.number}`;
    }

    /** From here on, a process that drove the run before can record nothing more, and so makes no more calls. */
    async claim(): Promise<void> {
        if (this.state) await this.write(this.state);
    }

    /** Records that a call that may change something is made next. `again`: after a crash it may be made again. */
    async calling(call: Call, snapshot: Uint8Array, again: boolean, left: number): Promise<void> {
        await this.write({ state: "calling", call, snapshot: pack(snapshot), again, left });
    }

    /** Records that the run waits for a person. */
    async waits({ state, call, snapshot, reason }: Suspended, left: number, expects: string | undefined): Promise<void> {
        await this.write({ state: (state ?? "deferred") as Waits, call, snapshot: pack(snapshot), reason, left, expects: expects ?? null });
    }

    /** Records that the run has ended. */
    async ended(outcome: string): Promise<void> {
        await this.write({ state: "ended", outcome });
    }

    private async write(state: State): Promise<void> {
        const record = summed(JSON.stringify({ head: { ...this.head, summed: true }, state }, exact));
        const wrote = await asked(this.name, "write", () => this.store.write(this.name, this.version + 1, record));
        if (wrote !== true) {
            throw new StoreError(`run \`${this.name}\`: something else drives it now; continue with \`resume\``, "run-owned");
        }
        this.version++;
    }
}

/** What a store answers. Whatever it throws is a `StoreError`, and so is an answer that takes too long. */
async function asked<T>(name: string, verb: "read" | "write", work: () => T | Promise<T>): Promise<T> {
    const late = (): StoreError => {
        const why = `its store did not ${verb} within ${PATIENCE / 1000} s; continue with \`resume\`, which reads the run anew`;
        return new StoreError(`run \`${name}\`: ${why}`, "store-late");
    };
    try {
        return await within(PATIENCE, work, late);
    } catch (error) {
        if (isOf(error, StoreError)) throw error;
        const failed = new StoreError(`run \`${name}\`: its store failed to ${verb}: ${textOf(error)}`, "store-failed");
        failed.cause = error;
        throw failed;
    }
}

/** A record with its checksum at the end. */
function summed(record: string): string {
    return `${record.slice(0, -1)},"sum":"${checksum(record)}"}`;
}

/** Whether a record has its checksum, or is of a release that wrote none. */
function isSummed(record: string, must: boolean): boolean {
    const sum = SUM.exec(record);
    if (!sum) return !must;
    return checksum(`${record.slice(0, sum.index)}}`) === sum[1];
}

/** A checksum of a text, against damage: two FNV-1a hashes of its units with other beginnings, and its length. */
function checksum(text: string): string {
    let [one, two] = [0x811c9dc5, text.length ^ 0x5bd1e995];
    for (let at = 0; at < text.length; at++) {
        const unit = text.charCodeAt(at);
        one = Math.imul(one ^ unit, 0x01000193);
        two = Math.imul(two ^ unit ^ (one >>> 15), 0x01000193);
    }
    return [one, two].map((part) => (part >>> 0).toString(16).padStart(8, "0")).join("");
}

/** The error for a record that was not written by this package. */
export function unreadable(name: string, why: string): StoreError {
    return new StoreError(`run \`${name}\`: ${why}`, "unreadable");
}

/** Integers past 2^53 in the arguments of a call are shown to people; the snapshot has the exact ones. */
function exact(_: string, value: unknown): unknown {
    return typeof value === "bigint" ? value.toString() : value;
}

/** Bytes as a text. */
export function pack(bytes: Uint8Array): string {
    return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}

/** The bytes of such a text. */
export function unpack(text: string): Uint8Array {
    return Uint8Array.from(atob(text), (unit) => unit.charCodeAt(0));
}
