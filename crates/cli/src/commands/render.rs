//! `render`: a report that is there already, in other forms.

use conformance::render;
use conformance::report::{self, Report};

use crate::arguments::{RenderArguments, Rendering};
use crate::session;
use crate::terminal::{Failure, Terminal};

/// Prints one form, or writes all into a folder. The verdict is the report's, so it does not count here: 0.
pub(crate) fn render(arguments: &RenderArguments, terminal: &Terminal) -> Result<u8, Failure> {
    let report = report::read(&arguments.report)
        .map_err(|error| Failure::usage(format!("{error}; run or verify first, or name a report")))?;
    if let Some(folder) = &arguments.into {
        session::write(&report, folder)?;
        terminal.note(&format!("wrote {}", folder.display()));
        return Ok(0);
    }
    let text = rendered(&report, arguments.output, terminal)?;
    terminal.print(&text);
    Ok(0)
}

fn rendered(report: &Report, form: Rendering, terminal: &Terminal) -> Result<String, Failure> {
    let broken = |error: &dyn std::fmt::Display| Failure::environment(format!("failed to render: {error}"));
    Ok(match form {
        Rendering::Text => render::text(report, &terminal.view(None)),
        Rendering::Json => render::json(report),
        Rendering::Markdown => render::markdown(report),
        Rendering::Html => render::html(report).map_err(|error| broken(&error))?,
        Rendering::Junit => render::junit(report).map_err(|error| broken(&error))?,
        Rendering::Sarif => render::sarif(report),
        Rendering::Badge => render::badge(report),
        Rendering::Shields => render::shields(report),
    })
}
