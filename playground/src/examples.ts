// The examples of the page. build.mjs inserts those of the repository here.

/** A program with its tools and its inputs. */
export interface Example {
    readonly group: string;
    readonly title: string;
    readonly source: string;
    readonly tools: string;
    readonly inputs: string;
    /** How its run ends; for a program with mistakes, once they are fixed. */
    readonly ends: { readonly status: "ok" | "err" | "fault"; readonly rolledBack: number };
    /** Whether the program has mistakes that are to be fixed first. */
    readonly wrong: boolean;
}

export const EXAMPLES: readonly Example[] = [];
