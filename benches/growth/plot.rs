//! Draws panels of lines on two logarithmic axes, as one SVG.

use crate::{Point, Series};
use plotters::prelude::*;
use std::error::Error;
use std::path::Path;

/// A row of two panels: time and memory over size.
pub(crate) struct Panel<'s> {
    pub(crate) title: &'s str,
    /// The unit of the sizes.
    pub(crate) unit: &'s str,
    pub(crate) series: &'s [Series],
}

type Measure = (&'static str, fn(&Point) -> f64);

const MEASURES: [Measure; 2] = [("ms", |point| point.time), ("MB", |point| point.memory)];

/// Draws a row for each panel.
pub(crate) fn draw(path: &Path, panels: &[Panel<'_>]) -> Result<(), Box<dyn Error>> {
    let root = SVGBackend::new(path, (1_000, 720)).into_drawing_area();
    root.fill(&WHITE)?;
    let areas = root.split_evenly((panels.len(), MEASURES.len()));
    let wanted = panels.iter().flat_map(|panel| MEASURES.map(|measure| (panel, measure)));
    for (area, (panel, measure)) in areas.iter().zip(wanted) {
        one(area, panel, measure)?;
    }
    root.present()?;
    Ok(())
}

/// The powers of ten around a range of values.
fn decades(values: impl Iterator<Item = f64>) -> std::ops::Range<f64> {
    let (least, most) = values
        .fold((f64::MAX, f64::MIN_POSITIVE), |(least, most), value| (least.min(value), most.max(value)));
    10_f64.powf(least.log10().floor())..10_f64.powf(most.log10().ceil())
}

fn one(
    area: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>,
    panel: &Panel<'_>,
    (unit, of): Measure,
) -> Result<(), Box<dyn Error>> {
    let points = || panel.series.iter().flat_map(|series| &series.points);
    let x = decades(points().map(|point| point.size));
    let y = decades(points().map(of).filter(|value| *value > 0.0));
    let mut chart = ChartBuilder::on(area)
        .caption(format!("{unit} over {} of {}", panel.unit, panel.title), ("sans-serif", 16))
        .margin(12)
        .x_label_area_size(36)
        .y_label_area_size(64)
        .build_cartesian_2d(x.log_scale(), y.log_scale())?;
    chart
        .configure_mesh()
        .x_desc(panel.unit)
        .y_desc(unit)
        .x_label_formatter(&|size| format!("{size:e}"))
        .light_line_style(WHITE)
        .draw()?;
    for (place, series) in panel.series.iter().enumerate() {
        let colour = Palette99::pick(place).to_rgba();
        let values: Vec<(f64, f64)> =
            series.points.iter().map(|point| (point.size, of(point))).filter(|value| value.1 > 0.0).collect();
        chart
            .draw_series(LineSeries::new(values, colour.stroke_width(2)).point_size(3))?
            .label(series.name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], colour.stroke_width(2)));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK.mix(0.3))
        .draw()?;
    Ok(())
}
