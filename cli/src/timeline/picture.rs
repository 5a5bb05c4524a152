//! Draws a timeline as a self-contained SVG, without scripts, fonts or other files.
//!
//! Each call has a row with its name and arguments to the left and a bar at its time. A tooltip shows all
//! that is known about it. Each tool has a colour; failures have another colour and a dashed outline. The
//! picture follows the reader's setting of a light or dark background.

use super::{Row, Timeline, time};
use ilo_asm::catalog::without_scheme;
use ilo_graph::{clean, escape};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Sizes in units: the picture, the start and greatest width of bars, a row, and the space above and below
/// the rows.
const WIDTH: f64 = 1_000.0;
const LEFT: f64 = 360.0;
const BARS: f64 = 540.0;
const ROW: f64 = 22.0;
const HEAD: f64 = 74.0;
const FOOT: f64 = 16.0;
/// The columns of a name and of arguments.
const NAME: usize = 21;
const SAID: usize = 24;
/// The most grid lines.
const TICKS: f64 = 8.0;

/// The colours of tools on light and dark backgrounds, chosen to be distinguishable for colour-blind readers.
const TOOLS: [[&str; 2]; 8] = [
    ["#3b7dd8", "#5b9bf0"],
    ["#12807c", "#3fb8b1"],
    ["#8a55d7", "#a984ec"],
    ["#b07d00", "#d9ac2e"],
    ["#4c8a2b", "#77b753"],
    ["#b04f8f", "#d67cb8"],
    ["#5b6675", "#93a0b1"],
    ["#9a5b2c", "#cf8b57"],
];
/// The colour of failure.
const FAILURE: [&str; 2] = ["#c9302c", "#ff7a75"];

pub(super) fn write(timeline: &Timeline) -> String {
    let notes = timeline.notes();
    let lines = timeline.rows.len() + notes.len();
    #[allow(clippy::cast_precision_loss, reason = "some hundred lines")]
    let height = HEAD + ROW * lines as f64 + FOOT;
    let mut out = String::new();
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"trace\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" xml:space=\"preserve\">"
    );
    let summary = escape(&timeline.summary());
    let _ = writeln!(out, "<title>{summary}</title>");
    style(&mut out);
    let _ = writeln!(out, "<rect class=\"ground\" width=\"{WIDTH}\" height=\"{height}\"/>");
    let _ = writeln!(out, "<text class=\"head\" x=\"20\" y=\"30\">{summary}</text>");
    ticks(timeline, height - FOOT - ROW * len(&notes), &mut out);
    let colours = colours(timeline);
    let mut y = HEAD;
    for row in &timeline.rows {
        call(timeline, row, colours.get(row.tool.as_str()).copied().unwrap_or(0), y, &mut out);
        y += ROW;
    }
    for note in &notes {
        let _ = writeln!(out, "<text class=\"dim\" x=\"20\" y=\"{}\">{}</text>", y + 15.0, escape(note));
        y += ROW;
    }
    out.push_str("</svg>\n");
    out
}

#[allow(clippy::cast_precision_loss, reason = "a handful of lines")]
fn len(notes: &[String]) -> f64 {
    notes.len() as f64
}

fn style(out: &mut String) {
    let side = |side: usize, ground: &str, band: &str, line: &str, text: &str| {
        let failure = FAILURE[side];
        let tools: Vec<String> = TOOLS
            .iter()
            .enumerate()
            .map(|(number, colours)| format!(".trace .t{number}{{fill:{}}}", colours[side]))
            .collect();
        format!(
            ".trace .ground{{fill:{ground}}}.trace .band{{fill:{band}}}.trace .tick{{stroke:{line}}}\
             .trace text{{fill:{text}}}.trace .failed{{fill:{failure};fill-opacity:.25;stroke:{failure}}}\
             .trace text.why{{fill:{failure}}}{}\n",
            tools.concat()
        )
    };
    out.push_str(
        "<style>\n.trace text{font:12px ui-monospace,Menlo,Consolas,\"DejaVu Sans Mono\",monospace}\n\
         .trace .head{font-size:14px;font-weight:bold}.trace .tool{font-weight:bold}\
         .trace .dim{opacity:.72}.trace .scale{font-size:11px;opacity:.72;text-anchor:middle}\n\
         .trace .band{fill-opacity:0}.trace g:hover .band,.trace .odd .band{fill-opacity:1}\
         .trace g:hover .bar{fill-opacity:.8}.trace .failed{stroke-dasharray:4 2}.trace .tick{stroke-width:1}\n",
    );
    out.push_str(&side(0, "#f6f7f9", "#ebeef2", "#d5dae1", "#1c2430"));
    let dark = side(1, "#0f1216", "#191e25", "#2b323c", "#e6ebf2");
    let _ = writeln!(out, "@media (prefers-color-scheme:dark){{\n{dark}}}\n</style>");
}

/// The horizontal position of a time.
fn place(timeline: &Timeline, moment: f64) -> f64 {
    let span = timeline.span();
    if span > 0.0 { LEFT + (moment - timeline.begin) / span * BARS } else { LEFT }
}

/// Lines at round times, from the start of the first call on.
fn ticks(timeline: &Timeline, bottom: f64, out: &mut String) {
    let span = timeline.span();
    if span <= 0.0 {
        return;
    }
    let power = 10_f64.powf((span / TICKS).log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|times| times * power);
    let step = step.into_iter().find(|step| span / step <= TICKS).unwrap_or(span);
    let mut moment = 0.0;
    while moment <= span {
        let x = LEFT + moment / span * BARS;
        let _ = writeln!(
            out,
            "<path class=\"tick\" d=\"M{x:.1} {:.0}V{bottom:.0}\"/><text class=\"scale\" x=\"{x:.1}\" y=\"{:.0}\">{}</text>",
            HEAD - 6.0,
            HEAD - 12.0,
            time(moment)
        );
        moment += step;
    }
}

/// A colour for each tool, in the order in which they are called.
fn colours(timeline: &Timeline) -> BTreeMap<&str, usize> {
    let mut colours = BTreeMap::new();
    for row in &timeline.rows {
        let next = colours.len() % TOOLS.len();
        colours.entry(row.tool.as_str()).or_insert(next);
    }
    colours
}

fn call(timeline: &Timeline, row: &Row, colour: usize, y: f64, out: &mut String) {
    let (x, end) = (place(timeline, row.start), place(timeline, row.start + row.duration));
    let width = (end - x).max(2.0);
    let (start, took) = (time(row.start), time(row.duration));
    let came = if row.failed { "failed" } else { "ok" };
    let about = format!(
        "{}  {}({})\nat {start}, took {took}\n{came}: {}",
        row.seq, row.tool, row.arguments, row.result
    );
    let odd = if row.seq % 2 == 1 { " class=\"odd\"" } else { "" };
    let _ = writeln!(out, "<g{odd}><title>{}</title>", escape(&about));
    let _ =
        writeln!(out, "<rect class=\"band\" x=\"8\" y=\"{y}\" width=\"{}\" height=\"{ROW}\"/>", WIDTH - 16.0);
    let (tool, text) = (escape(&clean(without_scheme(&row.tool), NAME)), y + 15.0);
    let said = escape(&clean(&row.arguments, SAID));
    let _ = writeln!(out, "<text class=\"tool\" x=\"20\" y=\"{text}\">{tool}</text>");
    let _ = writeln!(out, "<text class=\"dim\" x=\"180\" y=\"{text}\">{said}</text>");
    let class = if row.failed { "bar failed".to_owned() } else { format!("bar t{colour}") };
    let _ = writeln!(
        out,
        "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{}\" width=\"{width:.1}\" height=\"14\" rx=\"3\"/>",
        y + 4.0
    );
    // The widest bar leaves room for it.
    let label = if row.failed { format!("{took} failed") } else { took };
    let why = if row.failed { "why" } else { "dim" };
    let at = x + width + 6.0;
    let _ = writeln!(out, "<text class=\"{why}\" x=\"{at:.1}\" y=\"{text}\">{label}</text></g>");
}
