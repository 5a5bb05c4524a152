// The panels that show other forms of a program: its graph, the five notations, its bytecode.

import type { Engine } from "./client.js";
import type { Notation } from "./core.js";
import { byId, h, isNarrow, toast } from "./dom.js";
import { Editor } from "./editor.js";

/** The actions of the page that the views use. */
export interface Surroundings {
    texts(): { source: string; tools: string };
    /** Replaces the program. */
    edit(source: string): void;
}

/** Copies a text, if the browser allows it. */
export async function copy(text: string, what: string): Promise<void> {
    try {
        await navigator.clipboard.writeText(text);
        toast(`${what} copied.`);
    } catch {
        toast("The browser does not allow copying; select the text and copy it.");
    }
}

/** A read-only text, with a hint in its place if it is empty. */
class Shown {
    readonly editor: Editor;
    readonly #hint: HTMLElement;
    readonly #box: HTMLElement;

    constructor(panel: HTMLElement, label: string) {
        this.#hint = panel.querySelector<HTMLElement>(".hint")!;
        this.#box = panel.querySelector<HTMLElement>(".editor")!;
        this.editor = new Editor(this.#box, { label, readOnly: true });
    }

    show(text: string | null, reason: string): void {
        this.#hint.hidden = text !== null;
        this.#box.hidden = text === null;
        this.#hint.textContent = reason;
        if (text !== null) this.editor.text = text;
    }
}

const WRONG = "There is nothing to show while the program has errors.";

/** The views. Only the visible one is computed. */
export class Views {
    readonly #converted = new Shown(byId("converted"), "The program in this notation");
    readonly #listing = new Shown(byId("listing"), "Bytecode");
    #notation: Notation = "id";
    #tab = "tab-run";
    #bytes: number | null = null;
    #picture: { url: string; svg: string; width: number; height: number } | null = null;
    /** The size that a person chose; null fits the picture to the panel. */
    #zoom: number | null = null;
    #turn = 0;
    /** The tabs that show the current program. */
    readonly #done = new Set<string>();

    constructor(
        readonly engine: () => Engine,
        readonly page: Surroundings,
    ) {
        byId("copy-converted").addEventListener("click", () => void copy(this.#converted.editor.text, "The program"));
        byId("use-converted").addEventListener("click", () => this.page.edit(this.#converted.editor.text));
        byId("copy-listing").addEventListener("click", () => void copy(this.#listing.editor.text, "The listing"));
        byId("graph-fit").addEventListener("click", () => this.#setZoom(null));
        byId("graph-in").addEventListener("click", () => this.#setZoom(Math.min((this.#zoom ?? this.#fitted()) * 1.25, 4)));
        byId("graph-out").addEventListener("click", () => this.#setZoom(Math.max((this.#zoom ?? this.#fitted()) / 1.25, 0.1)));
        byId("graph-save").addEventListener("click", () => this.#save());
        new ResizeObserver(() => this.#zoom === null && this.#setZoom(null)).observe(byId("picture"));
    }

    /** Called when another tab is visible. */
    set tab(id: string) {
        this.#tab = id;
        void this.#refresh();
    }

    /** Called when another notation is selected. */
    set notation(notation: Notation) {
        this.#notation = notation;
        this.#done.delete("tab-notations");
        void this.#refresh();
    }

    /** Called when the program has changed. */
    changed(bytes: number | null): void {
        this.#bytes = bytes;
        this.#done.clear();
        void this.#refresh();
    }

    async #refresh(): Promise<void> {
        const turn = this.#turn + 1;
        await this.#compute();
        if (turn >= this.#turn) byId("upper-tabs").setAttribute("aria-busy", "false");
    }

    async #compute(): Promise<void> {
        const tab = this.#tab;
        if (tab === "tab-run" || this.#done.has(tab)) return;
        this.#done.add(tab);
        const turn = ++this.#turn;
        byId("upper-tabs").setAttribute("aria-busy", "true");
        const { source, tools } = this.page.texts();
        const ask = async (make: Promise<string | null>): Promise<string | null | undefined> => {
            const text = this.#bytes === null && tab === "tab-bytecode" ? null : await make.catch(() => null);
            return turn === this.#turn ? text : undefined;
        };
        if (tab === "tab-graph") {
            const svg = await ask(this.engine().ask("graph", { source }));
            if (svg !== undefined) this.#show(svg);
        } else if (tab === "tab-notations") {
            const notation = this.#notation;
            const text = await ask(this.engine().ask("convert", { source, to: notation }));
            if (text === undefined) return;
            this.#converted.editor.language = notation;
            this.#converted.show(text, WRONG);
            for (const id of ["copy-converted", "use-converted"]) byId<HTMLButtonElement>(id).disabled = text === null;
        } else {
            const text = await ask(this.engine().ask("listing", { source, tools }));
            if (text === undefined) return;
            this.#listing.editor.language = "listing";
            this.#listing.show(text, WRONG);
            byId<HTMLButtonElement>("copy-listing").disabled = text === null;
            byId("bytes").textContent = this.#bytes === null ? "" : `${this.#bytes} bytes packed, with names and positions`;
        }
    }

    /** A picture is shown as an image, so that nothing in it can run. */
    #show(svg: string | null): void {
        if (this.#picture) URL.revokeObjectURL(this.#picture.url);
        this.#picture = null;
        for (const id of ["graph-fit", "graph-in", "graph-out", "graph-save"]) byId<HTMLButtonElement>(id).disabled = svg === null;
        if (svg === null) {
            byId("picture").replaceChildren(h("div", { class: "hint" }, WRONG));
            return;
        }
        const url = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
        const [, width, height] = / width="(\d+)" height="(\d+)"/.exec(svg.slice(0, 400)) ?? [];
        this.#picture = { url, svg, width: Number(width ?? 600), height: Number(height ?? 600) };
        byId("picture").replaceChildren(h("img", { src: url, alt: "The steps of the program, with its calls and branches" }));
        this.#setZoom(this.#zoom);
    }

    /** The size at which the whole picture is in its frame, which is as high as its content on a narrow page. */
    #fitted(): number {
        const frame = byId("picture");
        if (this.#picture === null || frame.clientWidth === 0) return 1;
        const height = isNarrow() ? 0.6 * window.innerHeight : frame.clientHeight;
        return Math.min(1, (frame.clientWidth - 24) / this.#picture.width, (height - 24) / this.#picture.height);
    }

    #setZoom(zoom: number | null): void {
        this.#zoom = zoom;
        byId("graph-fit").setAttribute("aria-pressed", String(zoom === null));
        const image = byId("picture").querySelector("img");
        if (image && this.#picture) image.style.width = `${Math.floor(this.#picture.width * (zoom ?? this.#fitted()))}px`;
    }

    #save(): void {
        if (this.#picture) h("a", { href: this.#picture.url, download: "program.svg" }).click();
    }
}
