//! Arguments of `render`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct RenderArguments {
    /// The report: report.json, or the folder it lies in
    #[arg(default_value = "reports/latest")]
    pub(crate) report: PathBuf,
    /// What is printed
    #[arg(short, long, value_enum, default_value_t = Rendering::Text, value_name = "FORM")]
    pub(crate) output: Rendering,
    /// Writes the report and all its forms into a folder instead
    #[arg(long, value_name = "DIR", conflicts_with = "output")]
    pub(crate) into: Option<PathBuf>,
}

/// A form of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Rendering {
    /// For people, on a terminal
    Text,
    /// The report itself
    Json,
    /// For a pull request
    Markdown,
    /// One page, without network
    Html,
    /// For CI
    Junit,
    /// For code scanning, SARIF 2.1.0
    Sarif,
    /// The verdict as a picture, SVG
    Badge,
    /// The verdict for an endpoint badge of shields.io
    Shields,
}
