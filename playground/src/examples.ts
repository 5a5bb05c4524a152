// The examples of the page. build.mjs inserts those of the repository here.

/** A program with its tools and its inputs. */
export interface Example {
    readonly group: string;
    readonly title: string;
    readonly source: string;
    readonly tools: string;
    readonly inputs: string;
}

export const EXAMPLES: readonly Example[] = [];
