// The calls of a run over time: a row for each, with its arguments and its answer.

import { h, setText } from "./dom.js";
import type { Began, Ended, Made } from "./protocol.js";

/** The most rows shown. The others are counted. */
const MOST = 300;

interface Row {
    readonly began: Began;
    ended: Ended | null;
    readonly element: HTMLDetailsElement;
    readonly bar: HTMLElement;
    readonly time: HTMLElement;
    readonly answer: HTMLElement;
}

/** A duration for people. */
export function duration(milliseconds: number): string {
    if (milliseconds < 0.1) return "< 0.1 ms";
    if (milliseconds < 10) return `${milliseconds.toFixed(1)} ms`;
    if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
    return milliseconds < 60_000 ? `${(milliseconds / 1000).toFixed(1)} s` : `${Math.floor(milliseconds / 60_000)} min ${Math.round((milliseconds % 60_000) / 1000)} s`;
}

/** The timeline of one run. */
export class Timeline {
    readonly #rows = new Map<number, Row>();
    readonly #list = h("div", { class: "timeline" });
    readonly #scale = h("span", { class: "scale" });
    readonly #more = h("div", { class: "more", hidden: true });
    #count = 0;
    /** When the first call began: the axis begins there. */
    #first = 0;
    /** The last row in the order of the program. */
    #last: Element | null = null;
    #end: number | null = null;
    #begun = performance.now();
    #frame = 0;

    constructor(readonly parent: HTMLElement) {
        parent.replaceChildren();
    }

    get calls(): number {
        return this.#count;
    }

    /** Adds a call that began. */
    began(began: Began): void {
        if (this.#count++ === 0) this.#open(began.at);
        if (this.#count > MOST) {
            this.#more.hidden = false;
            this.#more.textContent = `and ${this.#count - MOST} more`;
            return;
        }
        const bar = h("i");
        const time = h("span", { class: "time" });
        const answer = h("pre", {}, "…");
        const args = began.arguments === "{}" ? "" : began.arguments.replace(/\s+/g, " ").slice(0, 120);
        const element = h(
            "details",
            { class: began.rollback ? "open rollback" : "open" },
            h("summary", {}, h("span", { class: "call", title: `${began.tool} ${args}` }, began.tool, args !== "" && h("small", {}, args)), h("span", { class: "lane" }, bar), time),
            h("div", { class: "detail" }, "arguments", h("pre", {}, began.arguments), h("span", {}, "answer"), answer),
        );
        this.#rows.set(began.key, { began, ended: null, element, bar, time, answer });
        this.#list.insertBefore(element, this.#more);
        this.#draw();
    }

    /** Marks a call as ended. */
    ended(ended: Ended): void {
        const row = this.#rows.get(ended.key);
        if (row === undefined) return;
        row.ended = ended;
        row.element.classList.remove("open");
        row.element.classList.toggle("failed", !ended.ok);
        setText(row.answer, ended.value);
        if (row.answer.previousSibling && !ended.ok) row.answer.previousSibling.textContent = "failed";
        this.#draw();
    }

    /** Records that the run has used a call. The rows of used calls are in the order of the program. */
    made(made: Made): void {
        const row = this.#rows.get(made.key);
        if (row === undefined) return;
        row.element.classList.toggle("rollback", made.rollback);
        if (made.ahead) row.time.setAttribute("title", "began before its turn");
        const place = (this.#last ?? this.#list.firstElementChild!).nextElementSibling;
        if (place !== row.element) this.#list.insertBefore(row.element, place);
        this.#last = row.element;
    }

    /** Marks the end of the run. */
    finished(at: number): void {
        this.#end = at;
        cancelAnimationFrame(this.#frame);
        this.#frame = 0;
        this.#paint();
    }

    #open(first: number): void {
        this.#first = first;
        const head = h("div", { class: "head" }, h("span", {}, "Call"), this.#scale, h("span", { class: "time" }, "took"));
        this.#list.append(head, this.#more);
        const legend = h(
            "div",
            { class: "legend", "aria-hidden": "true" },
            ...[["", "answered"], ["failed", "failed"], ["open", "waits"], ["rollback", "of a rollback"]].map(([name, text]) => h("span", { class: name! }, text!)),
        );
        this.parent.append(this.#list, legend);
    }

    #draw(): void {
        if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.#tick());
    }

    #tick(): void {
        this.#frame = 0;
        this.#paint();
        // Bars of waiting calls grow.
        if (this.#end === null && [...this.#rows.values()].some((row) => row.ended === null)) {
            setTimeout(() => this.#end === null && this.#draw(), 100);
        }
    }

    #paint(): void {
        const now = this.#end ?? performance.now() - this.#begun;
        const whole = Math.max(now - this.#first, 0.01);
        const share = (length: number) => `${Math.min(100, (100 * length) / whole).toFixed(2)}%`;
        for (const { began, ended, bar, time } of this.#rows.values()) {
            const end = Math.max(ended?.at ?? now, began.at);
            bar.style.left = `min(${share(began.at - this.#first)}, 100% - 3px)`;
            bar.style.width = share(end - began.at);
            const text = duration(end - began.at);
            if (time.textContent !== text) time.textContent = text;
        }
        this.#scale.replaceChildren(h("span", {}, "0"), h("span", {}, duration(whole)));
    }
}
