//! Arguments of `explore`.

use std::path::PathBuf;

use clap::Args;
use conformance::explore::PlanNumbers;

use super::number::number;
use super::{BUILT_IN, DEFAULT_TIME_BUDGET, Format, Selection};

#[derive(Debug, Args)]
pub(crate) struct ExploreArguments {
    /// Target that the tool starts: built-in, command="./binary --flags", image="NAME:TAG --flags", or a target file with one of
    /// the two
    #[arg(long, value_name = "TARGET", default_value = BUILT_IN)]
    pub(crate) target: String,
    /// The file from which the tool makes `<config>` of `--target command=…` or `image=…`
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// Component, such as resource-manager (repeatable)
    #[arg(long, value_name = "NAME", help_heading = "Selection")]
    pub(crate) component: Vec<String>,
    /// Only the perturbation with this number in the plan of its scenario, or a pair such as 14+31
    #[arg(long, value_name = "NUMBER", help_heading = "Selection")]
    pub(crate) perturbation: Option<PlanNumbers>,
    /// How many perturbations a run has at most; with 2, all pairs follow, so give a --budget
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = number::<u8>(1..=2))]
    pub(crate) depth: u8,
    /// Time after which no further run begins, such as 60s; exit code 4 if any is left [default: no limit]
    #[arg(long, value_name = "DURATION")]
    pub(crate) budget: Option<String>,
    /// Seed of the order of pairs, and of all runs that --budget cuts short; 0 keeps that of the plan
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = number::<u64>(0..=u64::MAX))]
    pub(crate) seed: u64,
    /// Runs at the same time [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = number::<u16>(1..=64))]
    pub(crate) parallel: Option<u16>,
    /// How long a step of a scenario may wait in real time, for targets outside this process
    #[arg(long, value_name = "DURATION", default_value = DEFAULT_TIME_BUDGET)]
    pub(crate) time_budget: String,
    /// Folder to which explore.html and explore.json are written
    #[arg(long, value_name = "DIR")]
    pub(crate) report: Option<PathBuf>,
    /// Output format: text or json
    #[arg(short, long, value_enum, default_value_t = Format::Text, value_name = "FORMAT")]
    pub(crate) output: Format,
}
