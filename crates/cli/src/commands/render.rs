//! `render`: converts a report to another format.

use conformance::render;
use conformance::report::{self, Report};

use crate::arguments::{RenderArguments, Rendering};
use crate::ending::Ending;
use crate::session;
use crate::terminal::{Failure, Terminal};

/// Prints the report in one format, or writes all formats to a folder. Returns 0 whatever the report's verdict is.
pub(crate) fn render(arguments: &RenderArguments, terminal: &Terminal) -> Result<Ending, Failure> {
    let report = report::read(&arguments.report)
        .map_err(|error| Failure::usage(format!("{error}; run or verify first, or name another report")))?;
    if let Some(folder) = &arguments.into {
        session::write_report(&report, folder)?;
        terminal.note(&format!("wrote {}", folder.display()));
        return Ok(Ending::done());
    }
    let text = render_as(&report, arguments.output, terminal)?;
    terminal.print(&text);
    Ok(Ending::done())
}

fn render_as(report: &Report, format: Rendering, terminal: &Terminal) -> Result<String, Failure> {
    let failure =
        |error: &dyn std::fmt::Display| Failure::environment(format!("failed to render the report: {error}"));
    Ok(match format {
        Rendering::Text => render::text(report, &terminal.view(None)),
        Rendering::Json => render::json(report),
        Rendering::Markdown => render::markdown(report),
        Rendering::Html => render::html(report).map_err(|error| failure(&error))?,
        Rendering::Junit => render::junit(report).map_err(|error| failure(&error))?,
        Rendering::Sarif => render::sarif(report),
        Rendering::Badge => render::badge(report),
        Rendering::Shields => render::shields(report),
    })
}
