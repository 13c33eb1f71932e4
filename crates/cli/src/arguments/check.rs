//! Arguments of `check`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand};
use conformance::shard::Shard;

use super::Format;
use super::release::release;

/// What is compared with contracts without calling a webhook.
#[derive(Debug, Subcommand)]
pub(crate) enum CheckCommand {
    /// Compare rendered or live objects with what Gardener may emit
    Objects(CheckObjectsArguments),
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("objects").args(["file", "kubeconfig"]).required(true))]
pub(crate) struct CheckObjectsArguments {
    /// Manifests in YAML or JSON, or folders with such files
    #[arg(short, long = "file", value_name = "PATH", num_args = 1..)]
    pub(crate) file: Vec<PathBuf>,
    /// Kubeconfig of the seed whose namespaces are read
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// Namespace (repeatable) [default: all in files; those of all Shoots in a cluster]
    #[arg(long, value_name = "NAME")]
    pub(crate) namespace: Vec<String>,
    /// Release of Gardener that emitted the objects, such as v1.82.0; without it, clauses of some releases only are skipped
    #[arg(long, value_name = "VERSION", value_parser = release)]
    pub(crate) gardener: Option<String>,
    /// Give clauses that Gardener itself does not keep the level that its documentation demands
    #[arg(long)]
    pub(crate) strict: bool,
    /// State that no provider's webhook has changed the objects of the cluster, so that every breach is Gardener's
    #[arg(long, requires = "kubeconfig")]
    pub(crate) no_webhooks: bool,
    /// Clause, such as CP-020 (repeatable)
    #[arg(long, value_name = "ID")]
    pub(crate) clause: Vec<String>,
    /// Breach, such as CP-020/shoot--dev--app/deployment/kube-apiserver (repeatable)
    #[arg(long, value_name = "ID")]
    pub(crate) case: Vec<String>,
    /// Check one of N parts of the namespaces, such as 2/4; `report merge` merges the reports
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<Shard>,
    /// Waiver file
    #[arg(long, value_name = "FILE")]
    pub(crate) waivers: Option<PathBuf>,
    /// Folder to which the reports are written
    #[arg(long, value_name = "DIR", default_value = "reports/latest")]
    pub(crate) report: PathBuf,
    /// Output format
    #[arg(short, long, value_enum, default_value_t = Format::Text, value_name = "FORMAT")]
    pub(crate) output: Format,
}
