// A bar between two panels, by which a person gives one of them more room: by pointer or by arrow keys.

/** The least share of a panel. */
const LEAST = 0.15;
/** How far an arrow key moves the bar. */
const STEP = 0.02;

/** Makes an element the bar between the two parts of its parent. `place` shows the share of the first part. */
export function splitter(bar: HTMLElement, axis: "x" | "y", first: number, place: (share: number) => void): void {
    let share = first;
    const move = (wanted: number) => {
        share = Math.min(Math.max(wanted, LEAST), 1 - LEAST);
        bar.setAttribute("aria-valuenow", String(Math.round(100 * share)));
        place(share);
    };
    bar.setAttribute("role", "separator");
    bar.setAttribute("aria-orientation", axis === "x" ? "vertical" : "horizontal");
    bar.setAttribute("aria-valuemin", String(100 * LEAST));
    bar.setAttribute("aria-valuemax", String(100 * (1 - LEAST)));
    bar.tabIndex = 0;
    bar.addEventListener("pointerdown", (event) => {
        bar.setPointerCapture(event.pointerId);
        event.preventDefault();
        bar.focus();
    });
    bar.addEventListener("pointermove", (event) => {
        if (!bar.hasPointerCapture(event.pointerId)) return;
        const box = bar.parentElement!.getBoundingClientRect();
        move(axis === "x" ? (event.clientX - box.left) / box.width : (event.clientY - box.top) / box.height);
    });
    bar.addEventListener("dblclick", () => move(first));
    bar.addEventListener("keydown", (event) => {
        const moves: { [key: string]: number } =
            axis === "x"
                ? { ArrowLeft: share - STEP, ArrowRight: share + STEP, Home: LEAST, End: 1 }
                : { ArrowUp: share - STEP, ArrowDown: share + STEP, Home: LEAST, End: 1 };
        const to = moves[event.key];
        if (to === undefined) return;
        event.preventDefault();
        move(to);
    });
    move(first);
}
