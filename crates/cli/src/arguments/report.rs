//! Arguments of `report`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Format;

/// What is done with reports.
#[derive(Debug, Subcommand)]
pub(crate) enum ReportCommand {
    /// Puts the reports of all shards of a run together; exit code 4 if one lacks, else that of the whole
    Merge(MergeArguments),
}

#[derive(Debug, Args)]
pub(crate) struct MergeArguments {
    /// The report of each shard: report.json, or the folder it lies in
    #[arg(required = true)]
    pub(crate) shards: Vec<PathBuf>,
    /// Where the whole is written
    #[arg(long, value_name = "DIR", default_value = "reports/latest")]
    pub(crate) report: PathBuf,
    /// What is printed: text, json or markdown
    #[arg(short, long, value_enum, default_value_t = Format::Text, value_name = "FORMAT")]
    pub(crate) output: Format,
}
