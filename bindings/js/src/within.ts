/** Waiting for the host's own code, which may never answer. */

/** The longest time of a timer. */
const LONGEST = 2 ** 31 - 1;

/** What `work` gives. Throws what `late` makes if that takes more than some milliseconds. */
export async function within<T>(time: number, work: () => T | PromiseLike<T>, late: () => Error): Promise<T> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const over = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(late()), Math.min(time, LONGEST));
    });
    try {
        return await Promise.race([(async () => work())(), over]);
    } finally {
        clearTimeout(timer);
    }
}
