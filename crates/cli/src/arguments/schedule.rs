//! Arguments of `schedule`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use gardener_scheduler::decision::Strategy;

use super::Format;

#[derive(Debug, Subcommand)]
pub(crate) enum ScheduleCommand {
    /// Print which Seed each Shoot gets, and why it does not get each other Seed; exit code 1 if a Shoot gets none
    Explain(ExplainScheduleArguments),
    /// Assign all Shoots anew, or those of Seeds that are taken away; exit code 1 if a Shoot gets no Seed
    Simulate(SimulateScheduleArguments),
}

/// The objects of a garden that decide about Seeds.
#[derive(Debug, Args)]
#[command(next_help_heading = "Garden")]
pub(crate) struct LandscapeArguments {
    /// File or folder with Seeds, Shoots, CloudProfiles and ConfigMaps with distances between regions (repeatable)
    #[arg(long, value_name = "PATH", required_unless_present = "kubeconfig")]
    pub(crate) objects: Vec<PathBuf>,
    /// Kubeconfig of a garden cluster whose objects are also read
    #[arg(long, value_name = "FILE", visible_alias = "garden")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// File or folder with Seeds that the garden does not have yet; they count as ready (repeatable)
    #[arg(long, value_name = "PATH")]
    pub(crate) with_seed: Vec<PathBuf>,
    /// Name of a Seed that is taken away (repeatable)
    #[arg(long, value_name = "NAME")]
    pub(crate) without_seed: Vec<String>,
    /// Strategy of the scheduler's configuration: SameRegion or MinimalDistance
    #[arg(long, value_name = "NAME", default_value_t = Strategy::default(), value_parser = strategy)]
    pub(crate) strategy: Strategy,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainScheduleArguments {
    /// File with the Shoots to decide about, or a folder with such files (repeatable)
    #[arg(long, value_name = "PATH", required = true)]
    pub(crate) shoot: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) landscape: LandscapeArguments,
    /// Output format: text or json
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct SimulateScheduleArguments {
    #[command(flatten)]
    pub(crate) landscape: LandscapeArguments,
    /// Leave each Shoot on its Seed, and assign only those that have none or whose Seed is not there
    #[arg(long)]
    pub(crate) keep: bool,
    /// HTML file to which the result is written
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Output format: text or json
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

fn strategy(text: &str) -> Result<Strategy, String> {
    Strategy::named(text).ok_or_else(|| {
        let names = Strategy::ALL.map(Strategy::as_str);
        format!("there is no such strategy; write {}", names.join(" or "))
    })
}
