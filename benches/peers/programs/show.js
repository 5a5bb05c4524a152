// What a list of summaries comes to, on one line.
((summaries) => summaries.map((s) => `${s.name} ${s.level} ${s.discount}`).join(" "))
