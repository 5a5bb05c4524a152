// Creates elements in code: text is always text, never markup.

type Child = Node | string | null | undefined | false;
type Attributes = { [name: string]: string | boolean | EventListener | ((event: never) => void) | undefined };

/** A text without characters that control or turn the text around them, as `ilo-vm` shows it. */
function plain(text: string): string {
    return text.replace(/[\p{Bidi_Control}\p{Cc}]/gu, (found) => (found === "\n" || found === "\t" ? found : "\ufffd"));
}

/** An element with attributes (`on…` are listeners) and children. */
export function h<K extends keyof HTMLElementTagNameMap>(
    name: K,
    attributes: Attributes = {},
    ...children: Child[]
): HTMLElementTagNameMap[K] {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
        if (typeof value === "function") element.addEventListener(key.slice(2), value as EventListener);
        else if (typeof value === "boolean") element.toggleAttribute(key, value);
        else if (value !== undefined) element.setAttribute(key, plain(value));
    }
    for (const child of children) {
        if (child instanceof Node) element.append(child);
        else if (typeof child === "string") element.append(plain(child));
    }
    return element;
}

/** The element of the page with that id. */
export function byId<E extends HTMLElement = HTMLElement>(id: string): E {
    const element = document.getElementById(id);
    if (element === null) throw new Error(`the page has no element ${id}`);
    return element as E;
}

/** Sets the text of an element if it differs, so that a screen reader does not repeat it. */
export function setText(element: HTMLElement, text: string): void {
    const shown = plain(text);
    if (element.textContent !== shown) element.textContent = shown;
}

/** Whether the panels are below each other, as on a phone; the style sheet has the same width. */
export function isNarrow(): boolean {
    return window.innerWidth <= 860;
}

let hiding = 0;

/** Shows a short message for some seconds, which screen readers read. */
export function toast(message: string): void {
    const element = byId("toast");
    element.textContent = plain(message);
    element.hidden = false;
    clearTimeout(hiding);
    hiding = window.setTimeout(() => (element.hidden = true), 6000);
}

/** Makes the buttons of a tab list select their panels, by pointer and by arrow keys. */
export function tabs(list: HTMLElement, chosen: (id: string) => void): (id: string, focus?: boolean) => void {
    const buttons = [...list.querySelectorAll<HTMLButtonElement>("[role=tab]")];
    const choose = (id: string, focus = false) => {
        for (const button of buttons) {
            const own = button.id === id;
            button.setAttribute("aria-selected", String(own));
            button.tabIndex = own ? 0 : -1;
            const panel = button.getAttribute("aria-controls");
            // Several buttons may share a panel.
            if (panel !== null && (own || !buttons.some((other) => other.id === id && other.getAttribute("aria-controls") === panel))) {
                byId(panel).hidden = !own;
                if (own) byId(panel).setAttribute("aria-labelledby", id);
            }
            if (own && focus) button.focus();
        }
        chosen(id);
    };
    list.addEventListener("click", (event) => {
        const button = (event.target as HTMLElement).closest<HTMLElement>("[role=tab]");
        if (button) choose(button.id);
    });
    list.addEventListener("keydown", (event) => {
        const at = buttons.findIndex((button) => button.getAttribute("aria-selected") === "true");
        const moves: { [key: string]: number } = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 };
        const to = moves[event.key];
        if (to === undefined) return;
        event.preventDefault();
        choose(buttons.at(to % buttons.length)!.id, true);
    });
    return choose;
}
