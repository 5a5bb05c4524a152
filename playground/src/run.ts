// The panel that runs a program: controls, figures, the waiting call, the outcome and the timeline.

import type { Engine } from "./client.js";
import { byId, h, isNarrow, setText } from "./dom.js";
import type { Finish, RunEvent, Waiting } from "./protocol.js";
import { duration, Timeline } from "./timeline.js";

/** The most fuel of a run in the page: some seconds. */
const MOST_FUEL = 1_000_000_000;
/** The default fuel of a run. */
export const DEFAULT_FUEL = 10_000_000;

/** The actions of the page that the panel uses. */
export interface Surroundings {
    texts(): { source: string; tools: string; inputs: string };
    /** Marks the line where a run waits. */
    mark(line: number | null): void;
    goToLine(line: number): void;
}

const number = (value: number): string => value.toLocaleString("en-US").replaceAll(",", "\u202f");

/** The panel. */
export class RunPanel {
    readonly #start = byId<HTMLButtonElement>("start");
    readonly #step = byId<HTMLButtonElement>("step");
    readonly #stop = byId<HTMLButtonElement>("stop");
    readonly #fuel = byId<HTMLInputElement>("fuel");
    readonly #function = byId<HTMLSelectElement>("function");
    readonly #waiting = byId("waiting");
    readonly #outcome = byId("outcome");
    #timeline = new Timeline(byId("timeline"));
    #figures: { fuel: number | null; snapshot: number | null; time: number | null } = { fuel: null, snapshot: null, time: null };
    #tools = new Map<number, { tool: string; arguments: string }>();
    #queue: Waiting[] = [];
    #running = false;
    #stepwise = false;

    constructor(
        readonly engine: () => Engine,
        readonly page: Surroundings,
    ) {
        this.#start.addEventListener("click", () => void this.run(false));
        this.#step.addEventListener("click", () => void this.run(true));
        this.#stop.addEventListener("click", () => void this.#halt());
        this.#fuel.addEventListener("input", () => this.#fuel.setAttribute("aria-invalid", String(this.fuel === null)));
        this.clear();
    }

    /** The fuel limit; nothing if it is not a number. */
    get fuel(): number | null {
        const value = Number(this.#fuel.value.replaceAll(/[\s_,]/g, ""));
        return Number.isSafeInteger(value) && value >= 1 && value <= MOST_FUEL ? value : null;
    }

    set fuel(value: number) {
        this.#fuel.value = String(value);
        this.#fuel.removeAttribute("aria-invalid");
    }

    /** Lists the functions of the program. */
    set functions(names: readonly string[]) {
        const chosen = this.#function.value;
        byId("function-choice").hidden = names.length < 2;
        if ([...this.#function.options].slice(1).map((option) => option.value).join() === names.join()) return;
        this.#function.replaceChildren(h("option", { value: "" }, "the one that no other calls"), ...names.map((name) => h("option", { value: name }, name)));
        this.#function.value = names.includes(chosen) ? chosen : "";
    }

    get function(): string | null {
        return byId("function-choice").hidden ? null : this.#function.value || null;
    }

    onFunction(changed: () => void): void {
        this.#function.addEventListener("change", changed);
    }

    /** Sets whether the program may run. */
    set ready(ready: boolean) {
        this.#start.disabled = !ready;
        this.#step.disabled = !ready;
        this.#start.title = ready ? "" : "The program and the tools file must have no errors";
    }

    /** Forgets the last run. */
    clear(): void {
        this.#settle();
        this.#figures = { fuel: null, snapshot: null, time: null };
        this.#showFigures();
        byId("timeline").replaceChildren();
        this.#outcome.replaceChildren(
            h("div", { class: "hint" }, h("strong", {}, "Nothing has run yet."), "Run uses the mocks of the tools file and asks you for answers that it has not. Step asks you for every answer."),
        );
    }

    /** Starts a run. */
    async run(stepwise: boolean): Promise<void> {
        if (this.#start.disabled) return;
        const fuel = this.fuel;
        if (fuel === null) {
            this.#fuel.setAttribute("aria-invalid", "true");
            this.#fuel.focus();
            return this.#show(refusal(`the fuel limit is a whole number from 1 to ${number(MOST_FUEL)}`));
        }
        this.#settle();
        this.#running = true;
        this.#stepwise = stepwise;
        this.#tools.clear();
        this.#figures = { fuel: null, snapshot: null, time: null };
        this.#timeline = new Timeline(byId("timeline"));
        this.#outcome.replaceChildren();
        this.#stop.disabled = false;
        this.#showFigures();
        this.engine().watch(true);
        try {
            await this.engine().ask("start", { ...this.page.texts(), function: this.function, fuel, stepwise });
        } catch (error) {
            this.#show(refusal(error instanceof Error ? error.message : String(error)));
        }
    }

    async #halt(): Promise<void> {
        await this.engine().ask("stop", null).catch(() => {});
        this.#queue = [];
        this.#showWaiting();
    }

    /** Handles an event of the run. */
    on(event: RunEvent): void {
        if (!this.#running) return;
        if (event.kind === "began") {
            this.#tools.set(event.key, event);
            this.#timeline.began(event);
        } else if (event.kind === "ended") {
            this.#timeline.ended(event);
            this.#drop(event.key);
        } else if (event.kind === "made") {
            this.#timeline.made(event);
        } else if (event.kind === "waiting") {
            this.#figures = { ...this.#figures, fuel: event.fuel ?? this.#figures.fuel, snapshot: event.snapshot ?? this.#figures.snapshot };
            this.#queue.push(event);
            if (this.#queue.length === 1) this.#showWaiting();
        } else {
            this.#show(event);
        }
        this.#showFigures();
    }

    #drop(key: number): void {
        const first = this.#queue[0]?.key;
        this.#queue = this.#queue.filter((waiting) => waiting.key !== key);
        if (this.#queue[0]?.key !== first) this.#showWaiting();
    }

    /** Called when the worker was replaced. */
    lost(reason: string): void {
        if (this.#running) this.#show(refusal(`The run was lost: ${reason}.`));
    }

    #settle(): void {
        this.#running = false;
        this.#queue = [];
        this.#stop.disabled = true;
        this.#waiting.replaceChildren();
        this.page.mark(null);
        this.engine()?.watch(false);
    }

    #showFigures(): void {
        const { fuel, snapshot, time } = this.#figures;
        const all: [string, string][] = [
            ["Fuel", fuel === null ? "–" : number(fuel)],
            ["Calls", this.#running || time !== null ? String(this.#timeline.calls) : "–"],
            ["Snapshot", snapshot === null ? "–" : `${number(snapshot)} B`],
            ["Time", time === null ? "–" : duration(time)],
        ];
        byId("figures").replaceChildren(...all.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
    }

    /** Whether the focus is in a part of the panel that is about to be removed. */
    #hasFocus(): boolean {
        const { activeElement } = document;
        return this.#waiting.contains(activeElement) || activeElement === this.#stop;
    }

    #showWaiting(): void {
        const hadFocus = this.#hasFocus();
        const waiting = this.#queue[0];
        const call = waiting && this.#tools.get(waiting.key);
        if (!waiting || !call) {
            this.#waiting.replaceChildren();
            this.page.mark(null);
            if (hadFocus) this.#stop.focus();
            return;
        }
        this.page.mark(waiting.line);
        const card = answerCard(call, waiting, this.#queue.length, (ok, json) => this.engine().ask("answer", { key: waiting.key, ok, json }));
        this.#waiting.replaceChildren(card);
        if (this.#stepwise || hadFocus) card.querySelector("textarea")?.focus({ preventScroll: true });
        if (isNarrow()) card.scrollIntoView({ block: "nearest" });
    }

    #show(finish: Finish): void {
        const hadFocus = this.#hasFocus();
        this.#settle();
        this.#figures = { ...this.#figures, fuel: finish.fuel ?? this.#figures.fuel, time: finish.at };
        this.#timeline.finished(finish.at);
        this.#outcome.replaceChildren(outcomeCard(finish, (line) => this.page.goToLine(line)));
        this.#showFigures();
        if (hadFocus) (this.#stepwise ? this.#step : this.#start).focus({ preventScroll: true });
        if (isNarrow()) this.#outcome.scrollIntoView({ block: "start" });
    }
}

function refusal(text: string): Finish {
    return { kind: "finish", status: "refused", text, code: null, line: null, fuel: null, at: 0, notes: [] };
}

const TITLES: { [status in Finish["status"]]: string } = {
    ok: "The run ended with a value.",
    err: "The run ended with an error of the program.",
    fault: "The run ended with a fault.",
    refused: "The run did not start.",
    stopped: "The run was stopped.",
};

function outcomeCard(finish: Finish, goTo: (line: number) => void): HTMLElement {
    const { line } = finish;
    return h(
        "div",
        { class: `card ${finish.status}` },
        h(
            "div",
            { class: "row" },
            h("span", { class: "badge" }, finish.code ?? finish.status),
            h("h3", {}, TITLES[finish.status]),
            line !== null && h("button", { class: "small", type: "button", onclick: () => goTo(line) }, `Line ${line}`),
        ),
        finish.text !== "" && h("pre", { tabindex: "0" }, finish.text),
        finish.notes.length > 0 && h("ul", {}, ...finish.notes.map((note) => h("li", {}, note))),
    );
}

type Send = (ok: boolean, json: string) => Promise<string | null>;

function answerCard(call: { tool: string; arguments: string }, waiting: Waiting, queued: number, send: Send): HTMLElement {
    const box = h("textarea", { "aria-label": `Answer of ${call.tool}, as JSON`, spellcheck: "false" });
    box.value = waiting.suggestion?.json ?? "null";
    box.rows = Math.min(12, Math.max(3, box.value.split("\n").length));
    const complaint = h("p", { class: "complaint", role: "alert", hidden: true });
    const settle = async (ok: boolean) => {
        const wrong = await send(ok, box.value).catch((error: Error) => error.message);
        complaint.hidden = wrong === null;
        setText(complaint, wrong === null ? "" : `The answer is not JSON: ${wrong}`);
        if (wrong !== null) box.focus();
    };
    const suggestsFailure = waiting.suggestion?.ok === false;
    box.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.shiftKey) return;
        event.preventDefault();
        event.stopPropagation();
        void settle(!suggestsFailure);
    });
    const source = waiting.suggestion === null ? "No mock answers this call." : suggestsFailure ? "The mock would fail with this." : "The mock would answer this.";
    return h(
        "div",
        { class: "card waits" },
        h("div", { class: "row" }, h("h3", {}, `${call.tool} waits for an answer`), queued > 1 && h("span", { class: "muted" }, `and ${queued - 1} more`)),
        h("pre", { tabindex: "0", "aria-label": "Arguments" }, call.arguments),
        box,
        complaint,
        h(
            "div",
            { class: "row" },
            h("button", { type: "button", class: suggestsFailure ? "" : "main", onclick: () => void settle(true) }, "Answer"),
            h("button", { type: "button", class: suggestsFailure ? "main" : "", onclick: () => void settle(false) }, "Fail"),
            h("span", { class: "muted" }, source),
        ),
    );
}
