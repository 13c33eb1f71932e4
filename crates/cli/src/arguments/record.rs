//! Arguments of `record` and `replay`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use super::number::number;
use super::{TrustArguments, VerifyArguments};

#[derive(Debug, Args)]
pub(crate) struct RecordArguments {
    /// Kubeconfig of the cluster
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: PathBuf,
    /// MutatingWebhookConfiguration or ValidatingWebhookConfiguration whose requests are recorded
    #[arg(long, value_name = "NAME")]
    pub(crate) registration: String,
    /// Webhook of that configuration (repeatable) [default: all]
    #[arg(long, value_name = "NAME")]
    pub(crate) webhook: Vec<String>,
    /// Object that the webhook reads in the namespace of the request, in addition to the Cluster: configmaps/cloud-config
    /// (repeatable)
    #[arg(long, value_name = "RESOURCE/NAME")]
    pub(crate) fact: Vec<String>,
    /// Folder to which cases are written; it must be empty or must not exist
    #[arg(long, value_name = "DIR", default_value = "recorded")]
    pub(crate) into: PathBuf,
    /// Stop after N cases
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = number::<u16>(1..=999))]
    pub(crate) count: u16,
    /// Stop after this time, such as 10m [default: run until interrupted]
    #[arg(long = "for", value_name = "DURATION")]
    pub(crate) time: Option<String>,
    /// Address of this machine at which the tool receives reviews
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub(crate) listen: SocketAddr,
    /// Host name or address at which the API server reaches this machine [default: the address of --listen]
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Option<String>,
    #[command(flatten)]
    pub(crate) trust: TrustArguments,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArguments {
    /// Folder that `record` wrote
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    #[command(flatten)]
    pub(crate) verify: VerifyArguments,
}
