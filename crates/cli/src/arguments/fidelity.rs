//! Arguments of `fidelity`.

use std::path::PathBuf;

use clap::Args;

use super::Format;
use super::number::number;

#[derive(Debug, Args)]
pub(crate) struct FidelityArguments {
    /// Number of requests to generate
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = number::<usize>(0..=u64::MAX))]
    pub(crate) requests: usize,
    /// Seed of the generated requests
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = number::<u64>(0..=u64::MAX))]
    pub(crate) seed: u64,
    /// Send requests for this resource only, such as deployments.apps (repeatable); the tool then does not check that the
    /// requests are varied enough
    #[arg(long, value_name = "RESOURCE")]
    pub(crate) kind: Vec<String>,
    /// Number of sequences of requests that run at the same time
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = number::<u16>(1..=64))]
    pub(crate) parallel: u16,
    /// Number of differences to reduce to a minimal sequence and print
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = number::<usize>(0..=u64::MAX))]
    pub(crate) examples: usize,
    /// Folder in which the real control plane's data folder is created [default: the folder for temporary files]
    #[arg(long, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Output format: text or json
    #[arg(short, long, value_enum, default_value_t = Format::Text, value_name = "FORMAT")]
    pub(crate) output: Format,
}
