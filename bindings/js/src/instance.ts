/** The instance of a WebAssembly module: loading it, calling it, and replacing it after a trap. */

import { Crash, IloError, errorOf } from "./errors.js";
import { textOf } from "./json.js";

/** The argument of `init`: an address, bytes, a response, or a compiled module. */
export type Source = string | URL | Request | Response | BufferSource | WebAssembly.Module;

/** The functions that the generated JavaScript of a module adds to the module's exports. */
interface Glue {
    default(options: { module_or_path: Source | Promise<Response> }): Promise<unknown>;
    initSync(options: { module: WebAssembly.Module }): unknown;
    __wbg_reset_state(): void;
}

/** An object of the module that has to be freed. */
export interface Handle {
    free(): void;
}

/** A module and its current instance. `file` is its name in the package; `lost` describes what a trap loses. */
export class Instance<Module extends Glue> {
    private readonly loads: (() => WebAssembly.Module)[] = [];
    private address: URL | undefined;
    private begun: Promise<void> | undefined;
    private ready = false;
    private number = 0;

    constructor(
        private readonly glue: Module,
        private readonly file: string,
        private readonly lost: string,
    ) {}

    /** Adds a way in which the module is loaded when it is needed. The first one that works is taken. */
    provide(loading: () => WebAssembly.Module): void {
        this.loads.push(loading);
    }

    /** Sets the address of the module on a platform that must fetch it. */
    provideAddress(url: URL): void {
        this.address ??= url;
    }

    /** Loads the module. */
    async init(source?: Source | Promise<Response>): Promise<void> {
        if (this.ready) return;
        this.begun ??= this.begin(source).catch((error: unknown) => {
            this.begun = undefined;
            throw error;
        });
        return this.begun;
    }

    private async begin(source?: Source | Promise<Response>): Promise<void> {
        if (source === undefined && this.loads.length) return this.start();
        const from = source ?? this.address;
        if (from === undefined) throw new IloError(`the address of \`${this.file}\` is not known; pass it to \`init\``);
        await this.glue.default({ module_or_path: from });
        this.ready = true;
    }

    private start(): void {
        this.glue.initSync({ module: this.module() });
        this.ready = true;
    }

    private module(): WebAssembly.Module {
        let first: unknown = new IloError("the module is not loaded; `await init()` first");
        for (const [at, load] of this.loads.entries()) {
            try {
                return load();
            } catch (error) {
                if (at === 0) first = error;
            }
        }
        throw first;
    }

    /** The number of the instance, which changes after a trap. */
    current(): number {
        return this.number;
    }

    /**
     * Calls the module. What it throws as a text is an error of the package; anything else is a trap, after which
     * nothing of the instance can be trusted: a new one takes its place.
     */
    call<T>(work: (module: Module) => T): T {
        if (!this.ready) this.start();
        try {
            return work(this.glue);
        } catch (thrown) {
            if (typeof thrown === "string") throw errorOf(thrown);
            throw this.replaced(thrown);
        }
    }

    private replaced(thrown: unknown): Crash {
        this.number++;
        let after = `a new instance has taken its place, and ${this.lost} are lost`;
        try {
            this.glue.__wbg_reset_state();
        } catch (error) {
            this.ready = false;
            after = `a new instance could not be made: ${textOf(error)}`;
        }
        return new Crash(`the ilo module failed in itself (${textOf(thrown)}); ${after}`, { cause: thrown });
    }
}

/** An object of one instance, which is made again for another instance if possible. */
export class Held<Module extends Glue, T extends Handle> {
    private of: number;

    constructor(
        private readonly instance: Instance<Module>,
        private readonly make: (module: Module) => T,
        private handle?: T,
    ) {
        this.of = instance.current();
    }

    /** The object in the current instance. */
    get(): T {
        if (this.handle === undefined || this.of !== this.instance.current()) {
            this.handle = this.instance.call(this.make);
            this.of = this.instance.current();
        }
        return this.handle;
    }

    /** Frees the object. It is made again when it is next used. */
    free(): void {
        const { handle } = this;
        this.handle = undefined;
        if (handle && this.of === this.instance.current()) this.instance.call(() => handle.free());
    }
}
