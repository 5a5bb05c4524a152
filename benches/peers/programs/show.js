// The result of a list of summaries, on one line.
((summaries) => summaries.map((s) => `${s.name} ${s.level} ${s.discount}`).join(" "))
