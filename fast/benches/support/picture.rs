//! Pictures: points joined by lines. The horizontal axis is linear or logarithmic, and the vertical one
//! starts at 0.

use super::results::{directory, figure};
use plotters::coord::Shift;
use plotters::prelude::*;
use std::error::Error;

/// One panel of a picture.
pub(crate) struct Panel {
    pub(crate) caption: String,
    pub(crate) logarithmic: bool,
    /// The end of the vertical axis. Lines may leave through the top.
    pub(crate) highest: f64,
    /// The name of each line, if there are several, and its points.
    pub(crate) lines: Vec<(&'static str, Vec<(f64, f64)>)>,
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

const COLOURS: [RGBColor; 3] = [BLUE, RGBColor(150, 150, 150), RED];

/// Draws panels side by side, two in a row, into `target/performance`.
pub(crate) fn draw(file: &str, panels: &[Panel]) -> Result<(), Box<dyn Error>> {
    let path = directory().join(file);
    let (columns, rows) = (panels.len().min(2), panels.len().div_ceil(2));
    let height = u32::try_from(rows)? * 320;
    let root = SVGBackend::new(&path, (960, height)).into_drawing_area();
    root.fill(&WHITE)?;
    for (panel, area) in panels.iter().zip(root.split_evenly((rows, columns))) {
        draw_panel(panel, &area)?;
    }
    root.present()?;
    Ok(())
}

fn draw_panel(panel: &Panel, area: &Area<'_>) -> Result<(), Box<dyn Error>> {
    let places = || panel.lines.iter().flat_map(|line| &line.1).map(|point| point.0);
    let (first, last) = (places().fold(f64::INFINITY, f64::min), places().fold(0.0, f64::max));
    let mut builder = ChartBuilder::on(area);
    builder
        .caption(&panel.caption, ("sans-serif", 15))
        .margin(12)
        .x_label_area_size(32)
        .y_label_area_size(48);
    // The two kinds of axis have different types.
    macro_rules! draw {
        ($axis:expr) => {{
            let mut chart = builder.build_cartesian_2d($axis, 0.0..panel.highest)?;
            chart
                .configure_mesh()
                .disable_x_mesh()
                .light_line_style(TRANSPARENT)
                .x_label_formatter(&|value| whole(*value))
                .y_label_formatter(&|value| figure(*value))
                .draw()?;
            for ((name, points), colour) in panel.lines.iter().zip(COLOURS) {
                let shown = || points.iter().copied().filter(|point| point.1 <= panel.highest);
                let line = chart.draw_series(LineSeries::new(shown(), colour.stroke_width(2)))?;
                if panel.lines.len() > 1 {
                    line.label(*name).legend(move |(x, y)| {
                        PathElement::new(vec![(x, y), (x + 16, y)], colour.stroke_width(2))
                    });
                }
                if points.len() < 100 {
                    chart.draw_series(shown().map(|point| Circle::new(point, 3, colour.filled())))?;
                }
            }
            if panel.lines.len() > 1 {
                chart.configure_series_labels().position(SeriesLabelPosition::UpperLeft).draw()?;
            }
        }};
    }
    if panel.logarithmic {
        draw!((first..last * 1.2).log_scale());
    } else {
        draw!(first..last);
    }
    Ok(())
}

/// A count in short form.
pub(crate) fn whole(value: f64) -> String {
    if value >= 1e4 { format!("1e{}", value.log10().round()) } else { format!("{value:.0}") }
}
