//! Arguments of `check`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand};
use conformance::shard::Shard;

use super::Format;
use super::release::release;

/// What is held against contracts without being asked anything.
#[derive(Debug, Subcommand)]
pub(crate) enum CheckCommand {
    /// Holds rendered or live objects against what Gardener may emit
    Objects(CheckObjectsArguments),
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("objects").args(["file", "kubeconfig"]).required(true))]
pub(crate) struct CheckObjectsArguments {
    /// Manifests, YAML or JSON, or folders with such files
    #[arg(short, long = "file", value_name = "PATH", num_args = 1..)]
    pub(crate) file: Vec<PathBuf>,
    /// The seed whose namespaces are read
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// A namespace (repeatable) [default: of a cluster, those of all its shoots; of files, all]
    #[arg(long, value_name = "NAME")]
    pub(crate) namespace: Vec<String>,
    /// The release of Gardener whose objects these are: v1.82.0. Clauses that hold for some releases alone need it
    #[arg(long, value_name = "VERSION", value_parser = release)]
    pub(crate) gardener: Option<String>,
    /// Takes clauses to the letter, also where Gardener itself does not keep them so
    #[arg(long)]
    pub(crate) strict: bool,
    /// No webhook of a provider has seen the objects of the cluster, so whatever is wrong is Gardener's
    #[arg(long, requires = "kubeconfig")]
    pub(crate) no_webhooks: bool,
    /// A clause, such as CP-020 (repeatable)
    #[arg(long, value_name = "ID")]
    pub(crate) clause: Vec<String>,
    /// A breach, such as CP-020/shoot--dev--app/deployment/kube-apiserver (repeatable)
    #[arg(long, value_name = "ID")]
    pub(crate) case: Vec<String>,
    /// Checks a part of the namespaces, such as 2/4, the second of four; `report merge` puts the reports together
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<Shard>,
    /// Waivers to apply
    #[arg(long, value_name = "FILE")]
    pub(crate) waivers: Option<PathBuf>,
    /// Where reports are written
    #[arg(long, value_name = "DIR", default_value = "reports/latest")]
    pub(crate) report: PathBuf,
    /// What is printed: text, json or markdown
    #[arg(short, long, value_enum, default_value_t = Format::Text, value_name = "FORMAT")]
    pub(crate) output: Format,
}
