//! Arguments of `versions`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Format;

#[derive(Debug, Subcommand)]
pub(crate) enum VersionsCommand {
    /// Tells what a profile offers, what expires when, and where each version would be moved, by which rule
    Explain(ExplainVersionsArguments),
    /// Walks through the time to come: who is moved when, who ends without a path; exit code 1 if anybody does
    Simulate(SimulateArguments),
    /// Says what is wrong with profiles before a shoot is hurt; exit code 1 if anything is
    Lint(LintVersionsArguments),
}

/// Profiles, and the shoots that choose from them.
#[derive(Debug, Args)]
#[command(next_help_heading = "Garden")]
pub(crate) struct GardenArguments {
    /// A file of CloudProfiles, YAML or JSON (repeatable)
    #[arg(long, value_name = "FILE", required_unless_present = "kubeconfig")]
    pub(crate) cloud_profile: Vec<PathBuf>,
    /// A file of Shoots, or a folder with such files (repeatable)
    #[arg(long, value_name = "PATH")]
    pub(crate) shoot: Vec<PathBuf>,
    /// A garden cluster whose CloudProfiles and Shoots are read as well
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainVersionsArguments {
    #[command(flatten)]
    pub(crate) garden: GardenArguments,
    /// The time that it is held against: 2024-05-01 or 2024-05-01T22:00:00Z [default: now]
    #[arg(long, value_name = "TIME")]
    pub(crate) at: Option<String>,
    /// For people, or for programs
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct SimulateArguments {
    #[command(flatten)]
    pub(crate) garden: GardenArguments,
    /// When it begins [default: now]
    #[arg(long, value_name = "TIME")]
    pub(crate) at: Option<String>,
    /// When it ends: 2026-05-01 or 2026-05-01T22:00:00Z
    #[arg(long, value_name = "TIME")]
    pub(crate) until: String,
    /// Where a page with the timeline is written
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// For people, or for programs
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct LintVersionsArguments {
    #[command(flatten)]
    pub(crate) garden: GardenArguments,
    /// For people, or for programs
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}
