//! Arguments of `report`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Format;

/// Commands about reports.
#[derive(Debug, Subcommand)]
pub(crate) enum ReportCommand {
    /// Merge the reports of all shards of a run; exit code 4 if a shard is missing, else that of the merged report
    Merge(MergeArguments),
}

#[derive(Debug, Args)]
pub(crate) struct MergeArguments {
    /// Report of each shard: report.json or its folder
    #[arg(required = true)]
    pub(crate) shards: Vec<PathBuf>,
    /// Folder to which the merged report is written
    #[arg(long, value_name = "DIR", default_value = "reports/latest")]
    pub(crate) report: PathBuf,
    /// Output format
    #[arg(short, long, value_enum, default_value_t = Format::Text, value_name = "FORMAT")]
    pub(crate) output: Format,
}
