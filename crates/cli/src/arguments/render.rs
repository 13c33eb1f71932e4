//! Arguments of `render`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct RenderArguments {
    /// Report: report.json or its folder
    #[arg(default_value = "reports/latest")]
    pub(crate) report: PathBuf,
    /// Output format
    #[arg(short, long, value_enum, default_value_t = Rendering::Text, value_name = "FORM")]
    pub(crate) output: Rendering,
    /// Write the report in all formats to this folder instead
    #[arg(long, value_name = "DIR", conflicts_with = "output")]
    pub(crate) into: Option<PathBuf>,
}

/// A format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Rendering {
    /// For people, on a terminal
    Text,
    /// The report as JSON
    Json,
    /// For a pull request
    Markdown,
    /// One page that needs no network
    Html,
    /// JUnit XML for CI systems
    Junit,
    /// SARIF 2.1.0 for code scanning
    Sarif,
    /// The verdict as an SVG image
    Badge,
    /// The verdict as JSON for an endpoint badge of shields.io
    Shields,
}
