//! Shows that assembling, verifying and running grow linearly with their input: from 1 KB to 100 MB of
//! source, and from ten to a million list elements. Draws benches/growth.svg and writes a section of
//! benches/RESULTS.md.
//!
//! Memory is the peak of allocated bytes minus the bytes that were allocated before, so the input of a stage
//! does not count.

mod plot;
mod stages;

use clap::Parser;
use ilo_benches::results;
use peak_alloc::PeakAlloc;
use plot::Panel;
use std::error::Error;
use std::fmt::Write;
use std::process::ExitCode;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Show how time and memory grow with the input.
///
/// Example: growth --most 10000000
#[derive(Parser)]
struct Arguments {
    /// Bytes of the largest source.
    #[arg(long, default_value_t = 100_000_000)]
    most: usize,
    /// Elements of the longest list.
    #[arg(long, default_value_t = 1_000_000)]
    longest: usize,
}

/// The measurement of one stage at one size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    /// Bytes or elements.
    pub(crate) size: f64,
    /// Thread CPU time in milliseconds.
    pub(crate) time: f64,
    /// Peak of allocated bytes minus those allocated before, in megabytes.
    pub(crate) memory: f64,
}

/// A stage at all sizes.
#[derive(Debug)]
pub(crate) struct Series {
    pub(crate) name: &'static str,
    pub(crate) points: Vec<Point>,
}

impl Series {
    /// The slope of time over size on logarithmic axes, by least squares: 1 is linear.
    ///
    /// Sizes below a thousandth of the largest are left out, because fixed costs dominate there.
    fn slope(&self) -> f64 {
        let largest = self.points.iter().map(|point| point.size).fold(0.0, f64::max);
        let logs = self.points.iter().filter(|point| point.size * 1_001.0 >= largest);
        let logs: Vec<(f64, f64)> = logs.map(|point| (point.size.ln(), point.time.ln())).collect();
        let count: f64 = logs.iter().map(|_| 1.0).sum();
        let x = logs.iter().map(|log| log.0).sum::<f64>() / count;
        let y = logs.iter().map(|log| log.1).sum::<f64>() / count;
        let over: f64 = logs.iter().map(|log| (log.0 - x) * (log.1 - y)).sum();
        let under: f64 = logs.iter().map(|log| (log.0 - x).powi(2)).sum();
        over / under
    }
}

fn main() -> ExitCode {
    match grow(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn grow(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let sources = stages::sources(&decades(1_000, arguments.most))?;
    let lists = stages::lists(&decades(10, arguments.longest))?;
    let mut body = format!(
        "{}, shared with other jobs. Thread CPU time, medians of at least three passes; peak memory beside what a stage is \
         given. The slope is that of time over size, both as logarithms: 1 is linear.\n\n![growth](growth.svg)\n",
        results::today()
    );
    for (what, series) in [("bytes of source", &sources), ("elements", &lists)] {
        let _ = write!(body, "\n{}", results::table(&cells(what, series)));
    }
    plot::draw(
        &results::folder().join("growth.svg"),
        &[
            Panel { title: "source", unit: "bytes", series: &sources },
            Panel { title: "list", unit: "elements", series: &lists },
        ],
    )?;
    results::save("Growth", &body)?;
    println!("{body}");
    Ok(())
}

/// Powers of ten.
fn decades(least: usize, most: usize) -> Vec<usize> {
    std::iter::successors(Some(least), |size| size.checked_mul(10)).take_while(|size| *size <= most).collect()
}

/// A line for each size, and a line of slopes.
fn cells(what: &str, series: &[Series]) -> Vec<Vec<String>> {
    let mut head = vec![what.to_owned()];
    for Series { name, .. } in series {
        head.push(format!("{name}, ms"));
        head.push(format!("{name}, MB"));
    }
    let mut lines = vec![head];
    for place in 0..series.first().map_or(0, |series| series.points.len()) {
        let points: Vec<&Point> = series.iter().filter_map(|series| series.points.get(place)).collect();
        let size = points.first().map_or(0.0, |point| point.size);
        let mut line = vec![format!("{size:.0}")];
        for point in points {
            line.push(format!("{:.4}", point.time));
            line.push(format!("{:.3}", point.memory));
        }
        lines.push(line);
    }
    let mut slopes = vec!["slope".to_owned()];
    for series in series {
        slopes.push(format!("{:.2}", series.slope()));
        slopes.push(String::new());
    }
    lines.push(slopes);
    lines
}

#[cfg(test)]
mod tests {
    use super::{Point, Series};

    #[test]
    fn the_slope_is_the_power() {
        for power in [1.0, 2.0] {
            let point = |size: f64| Point { size, time: 3.0 * size.powf(power), memory: 0.0 };
            let series = Series { name: "a power", points: [1e3, 1e4, 1e5].map(point).to_vec() };
            assert!((series.slope() - power).abs() < 1e-9, "{}", series.slope());
        }
    }
}
