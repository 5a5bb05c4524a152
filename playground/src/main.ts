// The page: editors, the worker that checks and runs, and the panels around them.

import { keymap } from "@codemirror/view";
import { Prec } from "@codemirror/state";
import { assistance } from "./assist.js";
import { Engine, EngineError } from "./client.js";
import type { Diagnostic, Notation } from "./core.js";
import { byId, setText, tabs, toast } from "./dom.js";
import { Editor, MOST_TEXT, programExtensions, showDiagnostics, showWaiting } from "./editor.js";
import { type Example, EXAMPLES } from "./examples.js";
import { template } from "./inputs.js";
import { parse } from "./json.js";
import { unpack } from "./module.js";
import { showProblems } from "./problems.js";
import type { Inspected } from "./protocol.js";
import { DEFAULT_FUEL, RunPanel } from "./run.js";
import * as share from "./share.js";
import { splitter } from "./splitter.js";
import { copy, Views } from "./views.js";
import WORKER from "./worker-text.js";

/** From this number of characters on, the program is checked only after a pause in typing. */
const LARGE = 100_000;
/** The length of that pause in milliseconds. */
const REST = 350;
/** Milliseconds after a change until the address is updated. */
const ADDRESS = 700;

const refused = () => toast(`Not inserted: a text here has at most ${MOST_TEXT >> 20} MB.`);

class Page {
    readonly engine: Engine;
    readonly source: Editor;
    readonly tools: Editor;
    readonly inputs: Editor;
    readonly run: RunPanel;
    readonly views: Views;
    readonly lower: (id: string, focus?: boolean) => void;
    readonly upper: (id: string, focus?: boolean) => void;
    #inspected: Inspected | null = null;
    /** The document that was checked last. Fixes are valid for it only. */
    #checked: unknown = null;
    #checking = false;
    #again = false;
    #timer = 0;
    #address = 0;
    #fragment = "";

    constructor() {
        const keys = Prec.highest(
            keymap.of([
                { key: "Mod-Enter", run: () => (void this.begin(false), true) },
                { key: "Mod-Shift-Enter", run: () => (void this.begin(true), true) },
                { key: "Mod-.", run: () => this.fixHere() },
            ]),
        );
        const changed = () => this.changed();
        const knows = {
            complete: (source: string, at: number) => this.engine.ask("complete", { source, tools: this.tools.text, at }),
            hover: (source: string, at: number) => this.engine.ask("hover", { source, tools: this.tools.text, at }),
        };
        const more = [assistance(knows, () => toast("Nothing is known of the word at the cursor.")), programExtensions(keys)];
        this.source = new Editor(byId("source"), { label: "Program", onChange: changed, onRefused: refused, more });
        const json = { language: "json" as const, onChange: changed, onRefused: refused, more: keys };
        this.tools = new Editor(byId("tools-editor"), { ...json, label: "Tools file with mocks, JSON" });
        this.inputs = new Editor(byId("inputs-editor"), { ...json, label: "Inputs, JSON" });
        const texts = () => ({ source: this.source.text, tools: this.tools.text, inputs: this.inputs.text });
        this.run = new RunPanel(() => this.engine, {
            texts,
            mark: (line) => showWaiting(this.source, line),
            goToLine: (line) => this.source.goTo(this.source.document.line(Math.min(line, this.source.document.lines)).from),
        });
        this.views = new Views(() => this.engine, { texts, edit: (text) => this.edit(text) });
        this.engine = new Engine(unpack(byId("core")), WORKER, (event) => this.run.on(event), (reason) => this.replaced(reason));
        this.lower = tabs(byId("lower-tabs"), (id) => this.onLower(id));
        this.upper = tabs(byId("upper-tabs"), (id) => (this.views.tab = id));
        const notations = tabs(byId("notation-tabs"), (id) => (this.views.notation = id.replace("notation-", "") as Notation));
        this.lower("tab-problems");
        this.upper("tab-run");
        notations("notation-id");
        this.#buttons();
    }

    #buttons(): void {
        byId("share").addEventListener("click", () => void this.share());
        byId("keys").addEventListener("click", () => byId<HTMLDialogElement>("key-list").showModal());
        byId("fix-all").addEventListener("click", () => void this.fixAll());
        byId("fill-inputs").addEventListener("click", () => this.fillInputs());
        byId("fuel").addEventListener("input", () => this.#follow());
        this.run.onFunction(() => this.#showInputs());
        document.addEventListener("keydown", (event) => {
            const modified = event.ctrlKey || event.metaKey;
            if (event.defaultPrevented || !modified) return;
            if (event.key === "Enter") void this.begin(event.shiftKey);
            else if (event.code === "Period" && event.shiftKey) void this.fixAll();
            else return;
            event.preventDefault();
        });
        window.addEventListener("hashchange", () => {
            if (location.hash !== this.#fragment) void this.fromAddress();
        });
    }

    /** Shows the tab with the run and starts it. */
    async begin(stepwise: boolean): Promise<void> {
        this.upper("tab-run");
        byId("upper-tabs").scrollIntoView({ block: "nearest" });
        await this.run.run(stepwise);
    }

    onLower(id: string): void {
        byId("fill-inputs").hidden = id !== "tab-inputs" || this.#parameters().length === 0;
        byId("fix-all").hidden = id !== "tab-problems" || !(this.#inspected?.diagnostics.some((found) => found.fix) ?? false);
    }

    /** Called when a text has changed. */
    changed(): void {
        this.#follow();
        this.#nameExample();
        byId("verdict").setAttribute("aria-busy", "true");
        clearTimeout(this.#timer);
        if (this.source.document.length < LARGE) void this.check();
        else this.#timer = window.setTimeout(() => void this.check(), REST);
    }

    /** Checks the program. Changes that arrive meanwhile are checked together afterwards. */
    async check(): Promise<void> {
        this.#again = true;
        if (this.#checking) return;
        this.#checking = true;
        while (this.#again) {
            this.#again = false;
            const { document } = this.source;
            try {
                const found = await this.engine.ask("inspect", { source: this.source.text, tools: this.tools.text });
                // There are later changes: the next check is on its way, and these positions belong to an older
                // text.
                if (this.source.document === document) this.#show(found);
            } catch (error) {
                this.#failed(error);
            }
        }
        this.#checking = false;
        byId("verdict").setAttribute("aria-busy", "false");
    }

    #failed(error: unknown): void {
        const reason = error instanceof EngineError ? error.message : String(error);
        setText(byId("verdict"), "not checked");
        byId("verdict").className = "bad";
        byId("verdict").title = reason;
    }

    #show(found: Inspected): void {
        this.#inspected = found;
        this.#checked = this.source.document;
        const errors = found.diagnostics.filter((one) => one.severity === "error").length;
        const warnings = found.diagnostics.length - errors;
        const count = (n: number, word: string) => `${n} ${word}${n === 1 ? "" : "s"}`;
        const verdict = byId("verdict");
        verdict.title = "";
        verdict.className = errors > 0 ? "bad" : warnings > 0 ? "warn" : "good";
        const text = [errors > 0 && count(errors, "error"), warnings > 0 && count(warnings, "warning")].filter(Boolean).join(", ") || "no problems";
        setText(verdict, found.notation === null && errors === 0 ? "" : text);
        setText(byId("notation"), found.notation === "id" ? "ID text" : (found.notation ?? ""));
        this.source.language = found.notation;
        const actions = {
            goTo: (offset: number) => this.source.goTo(offset),
            fix: (one: Diagnostic) => this.fix(one),
            explain: (code: string) => this.engine.ask("explain", { code }),
        };
        showDiagnostics(this.source, found.diagnostics, actions.fix);
        showProblems(found.diagnostics, actions, this.source.document.length === 0);
        this.#complain("tools", found.toolsProblem);
        this.run.ready = found.bytes !== null && found.toolsProblem === null;
        this.run.functions = found.functions.map((one) => one.name);
        this.#showInputs();
        this.views.changed(found.bytes);
        this.onLower(document.querySelector("#lower-tabs [aria-selected=true]")?.id ?? "");
    }

    #complain(panel: "tools" | "inputs", problem: string | null): void {
        byId(`${panel}-flag`).hidden = problem === null;
        byId(`${panel}-problem`).hidden = problem === null;
        setText(byId(`${panel}-problem`), problem ?? "");
    }

    /** The inputs of the selected function. */
    #parameters(): readonly (readonly [string, string])[] {
        const functions = this.#inspected?.functions ?? [];
        return (functions.find((one) => one.name === this.run.function) ?? functions.at(-1))?.inputs ?? [];
    }

    #showInputs(): void {
        let problem: string | null = null;
        const text = this.inputs.text.trim();
        try {
            if (text !== "") parse(text);
        } catch (error) {
            problem = error instanceof Error ? error.message : String(error);
        }
        if (this.inputs.text === this.#filled && this.#inspected?.bytes != null) {
            this.#filled = template(this.#parameters());
            if (this.inputs.text !== this.#filled) this.inputs.text = this.#filled;
        }
        this.#complain("inputs", problem);
    }

    /** The inputs that the page may replace: those that it wrote itself. */
    #filled: string | null = null;

    fillInputs(): void {
        this.#filled = template(this.#parameters());
        this.inputs.text = this.#filled;
        this.inputs.view.focus();
    }

    /** Applies one fix, unless the program has changed since it was found. */
    fix(found: Diagnostic): void {
        if (!found.fix || this.#checked !== this.source.document) return;
        this.source.apply(found.fix.edits);
        this.source.view.focus();
    }

    /** Applies the fix at the cursor, or the first on its line. */
    fixHere(): boolean {
        const { state } = this.source.view;
        const at = state.selection.main.head;
        const line = state.doc.lineAt(at);
        const fixable = this.#inspected?.diagnostics.filter((one) => one.fix) ?? [];
        const found = fixable.find((one) => one.start <= at && at <= one.end) ?? fixable.find((one) => one.start <= line.to && one.end >= line.from);
        if (found) this.fix(found);
        else toast("No fix at the cursor.");
        return true;
    }

    async fixAll(): Promise<void> {
        const before = this.source.document;
        try {
            const { source, fixed } = await this.engine.ask("fix", { source: this.source.text, tools: this.tools.text });
            if (this.source.document !== before) return;
            this.source.text = source;
            toast(fixed === 0 ? "Nothing has exactly one fix; choose among them." : `${fixed} fixed.`);
        } catch (error) {
            toast(error instanceof Error ? error.message : String(error));
        }
    }

    /** Replaces the program. */
    edit(text: string): void {
        this.source.text = text;
        this.source.goTo(0);
    }

    /** Shows an example or the content of an address. */
    open(texts: share.Shared): void {
        this.#example = EXAMPLES.find((one) => isSame(one, texts)) ?? null;
        this.run.clear();
        byId("toast").hidden = true;
        // The page fills in empty inputs.
        this.#filled = texts.inputs === "" ? "" : null;
        this.source.text = texts.source;
        this.tools.text = texts.tools;
        this.inputs.text = texts.inputs;
        this.run.fuel = texts.fuel ?? DEFAULT_FUEL;
        this.source.goTo(0, false);
    }

    #example: Example | null = null;

    /** Says which example is shown, whether it was changed, and how its run ends. */
    #nameExample(): void {
        const select = byId<HTMLSelectElement>("examples");
        const example = this.#example;
        const same = example !== null && isSame(example, { source: this.source.text, tools: this.tools.text, inputs: this.inputs.text });
        select.options[0]!.text = example === null ? "Your program" : `${example.title} (changed)`;
        select.value = same ? String(EXAMPLES.indexOf(example)) : "";
        setText(byId("ends"), same ? announced(example) : "");
    }

    /** Opens the content of the address. Returns whether there was any. */
    async fromAddress(): Promise<boolean> {
        try {
            const shared = await share.read(location.hash);
            if (shared === null) return false;
            this.#fragment = location.hash;
            this.open(shared);
            return true;
        } catch (error) {
            toast(`Not opened: ${error instanceof Error ? error.message : String(error)}.`);
            return false;
        }
    }

    /** Updates the address when texts change, so that a reload keeps them. */
    #follow(): void {
        clearTimeout(this.#address);
        this.#address = window.setTimeout(() => void this.#write().catch(() => {}), ADDRESS);
    }

    async #write(): Promise<string> {
        const fuel = this.run.fuel;
        const texts = { source: this.source.text, tools: this.tools.text, inputs: this.inputs.text };
        const fragment = await share.write({ ...texts, ...(fuel === null || fuel === DEFAULT_FUEL ? {} : { fuel }) });
        this.#fragment = fragment;
        history.replaceState(null, "", fragment);
        return location.href;
    }

    async share(): Promise<void> {
        clearTimeout(this.#address);
        try {
            await copy(await this.#write(), "The address");
        } catch (error) {
            toast(error instanceof Error ? error.message : String(error));
        }
    }

    /** Called when a new worker has replaced one that hung or failed. */
    replaced(reason: string): void {
        this.run.lost(reason);
        byId("notice").hidden = false;
        setText(byId("notice"), `The worker was replaced: ${reason}. Nothing of the texts is lost.`);
    }
}

type Texts = Pick<Example, "source" | "tools" | "inputs">;

function isSame(one: Texts, other: Texts): boolean {
    return one.source === other.source && one.tools === other.tools && one.inputs === other.inputs;
}

/** What the page says about the end of an example. */
function announced({ ends, wrong }: Example): string {
    const end = { ok: "a value", err: "an error of the program", fault: "a fault" }[ends.status];
    const undone = ends.rolledBack === 0 ? "" : `, and ${ends.rolledBack} call${ends.rolledBack === 1 ? " is" : "s are"} rolled back`;
    return `${wrong ? "This example has mistakes; fixed, it" : "This example"} ends with ${end}${undone}.`;
}

function fillExamples(page: Page): void {
    const select = byId<HTMLSelectElement>("examples");
    select.append(new Option("Your program", ""));
    // Only the examples are chosen; this one says what is shown.
    select.options[0]!.hidden = true;
    const groups = new Map<string, HTMLOptGroupElement>();
    EXAMPLES.forEach((example: Example, at) => {
        let group = groups.get(example.group);
        if (group === undefined) {
            group = document.createElement("optgroup");
            group.label = example.group;
            groups.set(example.group, group);
            select.append(group);
        }
        group.append(new Option(example.title, String(at)));
    });
    select.addEventListener("change", () => {
        const example = EXAMPLES[Number(select.value)];
        if (select.value !== "" && example) page.open(example);
    });
}

/** The bars between the panels; each panel takes its share of the room. */
function placeSplitters(): void {
    const { style } = document.documentElement;
    const shares = (first: string, second: string, unit: string) => (share: number) => {
        style.setProperty(first, `${share}${unit}`);
        style.setProperty(second, `${1 - share}${unit}`);
    };
    splitter(byId("split-sides"), "x", 0.5, shares("--left", "--right", "fr"));
    splitter(byId("split-program"), "y", 0.64, shares("--upper", "--lower", ""));
}

const page = new Page();
fillExamples(page);
placeSplitters();
if (!(await page.fromAddress())) page.open(EXAMPLES[0]!);
