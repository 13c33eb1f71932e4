//! Arguments of `init`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand};

use super::TrustArguments;

/// What to write a target file for.
#[derive(Debug, Subcommand)]
pub(crate) enum InitCommand {
    /// Inspect a provider's webhook and write a target file for `verify`
    Provider(InitProviderArguments),
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("webhook").args(["url", "command", "namespace", "mutating_webhook_configuration"])
    .multiple(true).required(true))]
pub(crate) struct InitProviderArguments {
    /// Address of a running webhook: https://HOST:PORT
    #[arg(long, value_name = "URL", conflicts_with_all = ["command", "namespace"])]
    pub(crate) url: Option<String>,
    /// Command line that starts the webhook; the tool replaces `<port>`, `<certDir>`, `<config>` and `<sourceKubeconfig>`
    #[arg(long, value_name = "LINE", conflicts_with = "namespace")]
    pub(crate) command: Option<String>,
    /// Namespace of the extension in a live seed
    #[arg(long, value_name = "NAME", requires = "kubeconfig")]
    pub(crate) namespace: Option<String>,
    /// Kubeconfig of the seed; the tool only reads from it, and sends the webhook dry runs
    #[arg(long, value_name = "FILE", requires = "namespace")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// File with the webhook's registration
    #[arg(long, value_name = "FILE", conflicts_with = "namespace")]
    pub(crate) mutating_webhook_configuration: Option<PathBuf>,
    /// Provider, such as aws: part of the target's name, and the provider of the objects in cases [default: the one that
    /// the registration selects]
    #[arg(long, value_name = "NAME")]
    pub(crate) provider: Option<String>,
    /// Release of Gardener that the webhook is for, such as v1.98.0
    #[arg(long, value_name = "VERSION", value_parser = super::release::release)]
    pub(crate) gardener: Option<String>,
    #[command(flatten)]
    pub(crate) trust: TrustArguments,
    /// Component configuration file, from which the tool makes `<config>`, or which the running webhook has
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Target file to write
    #[arg(long, value_name = "FILE", default_value = "provider.yaml")]
    pub(crate) file: PathBuf,
    /// Overwrite existing files
    #[arg(long)]
    pub(crate) force: bool,
}
