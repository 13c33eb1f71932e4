//! Arguments of `record` and `replay`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use super::{TrustArguments, VerifyArguments};

#[derive(Debug, Args)]
pub(crate) struct RecordArguments {
    /// The cluster whose reviews are recorded
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: PathBuf,
    /// The MutatingWebhookConfiguration or ValidatingWebhookConfiguration whose webhooks are recorded
    #[arg(long, value_name = "NAME")]
    pub(crate) registration: String,
    /// A webhook of it (repeatable) [default: all]
    #[arg(long, value_name = "NAME")]
    pub(crate) webhook: Vec<String>,
    /// An object beside the Cluster that the webhook reads, in the namespace it is asked about: configmaps/cloud-config (repeatable)
    #[arg(long, value_name = "RESOURCE/NAME")]
    pub(crate) fact: Vec<String>,
    /// Where cases are written: a folder that is empty, or is made
    #[arg(long, value_name = "DIR", default_value = "recorded")]
    pub(crate) into: PathBuf,
    /// Ends after so many cases
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=999))]
    pub(crate) count: u16,
    /// Ends after so long, such as 10m [default: when it is interrupted]
    #[arg(long = "for", value_name = "DURATION")]
    pub(crate) time: Option<String>,
    /// Where reviews are taken: an address of this machine
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub(crate) listen: SocketAddr,
    /// Name or address by which the API server reaches this machine [default: that of --listen]
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Option<String>,
    #[command(flatten)]
    pub(crate) trust: TrustArguments,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArguments {
    /// What `record` wrote
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    #[command(flatten)]
    pub(crate) verify: VerifyArguments,
}
