//! Arguments of `init`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand};

use super::TrustArguments;

/// What a file is written for.
#[derive(Debug, Subcommand)]
pub(crate) enum InitCommand {
    /// Finds out what a provider's webhook serves and writes a target file for `verify`
    Provider(InitProviderArguments),
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("webhook").args(["url", "command", "namespace", "mutating_webhook_configuration"])
    .multiple(true).required(true))]
pub(crate) struct InitProviderArguments {
    /// Where the webhook runs: https://HOST:PORT
    #[arg(long, value_name = "URL", conflicts_with_all = ["command", "namespace"])]
    pub(crate) url: Option<String>,
    /// How it is started; `<port>`, `<certDir>`, `<config>` and `<sourceKubeconfig>` are filled in
    #[arg(long, value_name = "LINE", conflicts_with = "namespace")]
    pub(crate) command: Option<String>,
    /// The namespace of the extension in a live seed
    #[arg(long, value_name = "NAME", requires = "kubeconfig")]
    pub(crate) namespace: Option<String>,
    /// The seed; it is only read, and the webhook asked with dry runs
    #[arg(long, value_name = "FILE", requires = "namespace")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// How the webhook is registered
    #[arg(long, value_name = "FILE", conflicts_with = "namespace")]
    pub(crate) mutating_webhook_configuration: Option<PathBuf>,
    /// The provider, such as aws: names the target, and is what it is asked about [default: the one that the registration selects]
    #[arg(long, value_name = "NAME")]
    pub(crate) provider: Option<String>,
    /// The release of Gardener that the webhook is for, such as v1.98.0
    #[arg(long, value_name = "VERSION", value_parser = super::release::release)]
    pub(crate) gardener: Option<String>,
    #[command(flatten)]
    pub(crate) trust: TrustArguments,
    /// The component configuration: what `<config>` is made from, or what a running webhook has
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The target file
    #[arg(long, value_name = "FILE", default_value = "provider.yaml")]
    pub(crate) file: PathBuf,
    /// Writes over files that are there
    #[arg(long)]
    pub(crate) force: bool,
}
