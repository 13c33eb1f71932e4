//! What `fidelity` is told.

use std::path::PathBuf;

use clap::Args;

use super::Format;

#[derive(Debug, Args)]
pub(crate) struct FidelityArguments {
    /// How many requests are generated
    #[arg(long, value_name = "N", default_value_t = 2000)]
    pub(crate) requests: usize,
    /// What they are generated from
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Only this resource, such as deployments.apps (repeatable); whether that is enough is not judged then
    #[arg(long, value_name = "RESOURCE")]
    pub(crate) kind: Vec<String>,
    /// Sequences that are under way at once
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(crate) parallel: u16,
    /// How many differences are shrunk and shown
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) examples: usize,
    /// Where the data folder of the real control plane is made [default: the folder for temporary files]
    #[arg(long, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// text or json
    #[arg(short, long, value_enum, default_value_t = Format::Text, value_name = "FORMAT")]
    pub(crate) output: Format,
}
