//! Arguments of `versions`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Format;

#[derive(Debug, Subcommand)]
pub(crate) enum VersionsCommand {
    /// Print which versions a CloudProfile offers, when they expire, and to which version maintenance moves each, by which rule
    Explain(ExplainVersionsArguments),
    /// Predict when maintenance moves which Shoot; exit code 1 if a Shoot ends without a version to move to
    Simulate(SimulateArguments),
    /// Find problems in CloudProfiles before they affect a Shoot; exit code 1 if there are any
    Lint(LintVersionsArguments),
}

/// CloudProfiles, and the Shoots that use them.
#[derive(Debug, Args)]
#[command(next_help_heading = "Garden")]
pub(crate) struct GardenArguments {
    /// File with CloudProfiles in YAML or JSON (repeatable)
    #[arg(long, value_name = "FILE", required_unless_present = "kubeconfig")]
    pub(crate) cloud_profile: Vec<PathBuf>,
    /// File with Shoots, or a folder with such files (repeatable)
    #[arg(long, value_name = "PATH")]
    pub(crate) shoot: Vec<PathBuf>,
    /// Kubeconfig of a garden cluster whose CloudProfiles and Shoots are also read
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainVersionsArguments {
    #[command(flatten)]
    pub(crate) garden: GardenArguments,
    /// Time for which to explain: 2024-05-01 or 2024-05-01T22:00:00Z [default: now]
    #[arg(long, value_name = "TIME")]
    pub(crate) at: Option<String>,
    /// Output format: text or json
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct SimulateArguments {
    #[command(flatten)]
    pub(crate) garden: GardenArguments,
    /// Start of the simulation: 2024-05-01 or 2024-05-01T22:00:00Z [default: now]
    #[arg(long, value_name = "TIME")]
    pub(crate) at: Option<String>,
    /// End of the simulation: 2026-05-01 or 2026-05-01T22:00:00Z
    #[arg(long, value_name = "TIME")]
    pub(crate) until: String,
    /// HTML file to which a timeline is written
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Output format: text or json
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct LintVersionsArguments {
    #[command(flatten)]
    pub(crate) garden: GardenArguments,
    /// Output format: text or json
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}
