//! Arguments of `env` and `envtest-assets`.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use component::Component;
use schema::KubernetesVersion;

use super::{ControlPlaneArguments, SubstrateName};
use crate::components::{self, COMPONENTS};

#[derive(Debug, Subcommand)]
pub(crate) enum EnvCommand {
    /// Start an API server or a cluster and print the path of its kubeconfig
    Up(Box<EnvUpArguments>),
    /// Stop an environment
    Down {
        /// Name of the environment
        #[arg(long, default_value = "default", value_parser = parse_name)]
        name: String,
    },
    /// Print what each substrate needs, and what is missing on this machine
    Doctor,
}

/// Accepts the names of the components; `--help` describes each.
fn component_parser() -> impl TypedValueParser<Value = &'static Component> {
    let possible =
        COMPONENTS.iter().map(|component| PossibleValue::new(component.name).help(component.about));
    PossibleValuesParser::new(possible)
        .try_map(|name| components::find(&name).map_err(|failure| failure.text))
}

#[derive(Debug, Args)]
pub(crate) struct EnvUpArguments {
    /// What to start; `direct` needs nothing started
    #[arg(long, value_enum, default_value_t = SubstrateName::Embedded)]
    pub(crate) substrate: SubstrateName,
    /// Name of the environment, so that several can run at the same time
    #[arg(long, default_value = "default", value_parser = parse_name)]
    pub(crate) name: String,
    /// Run in the foreground until interrupted
    #[arg(long)]
    pub(crate) foreground: bool,
    /// CRDs to install at the start: none, those of this project (gardener), or those in the files of a folder; not for
    /// kind [default: gardener]
    #[arg(long, value_name = "none|gardener|DIR", value_parser = CrdSource::parse)]
    pub(crate) crds: Option<CrdSource>,
    /// Serve Gardener's own kinds as gardener-apiserver does, not as custom resources: the same as --substrate garden
    #[arg(long)]
    pub(crate) garden: bool,
    /// Admission plugins of gardener-apiserver that are on beside those that are on by default; with --garden
    #[arg(long, value_name = "PLUGIN", value_delimiter = ',', requires = "garden")]
    pub(crate) enable_admission_plugins: Vec<String>,
    /// Admission plugins of gardener-apiserver that are off; with --garden
    #[arg(long, value_name = "PLUGIN", value_delimiter = ',', requires = "garden")]
    pub(crate) disable_admission_plugins: Vec<String>,
    /// Configuration of the admission plugins of gardener-apiserver, an AdmissionConfiguration; with --garden
    #[arg(long, value_name = "FILE", requires = "garden")]
    pub(crate) admission_control_config_file: Option<PathBuf>,
    /// Audiences of service account tokens that the embedded server accepts, as kube-apiserver's flag of the same name
    /// [default: the issuer]
    #[arg(long, value_name = "AUDIENCE", value_delimiter = ',')]
    pub(crate) api_audiences: Vec<String>,
    #[command(flatten)]
    pub(crate) control_plane: ControlPlaneArguments,
    #[command(flatten)]
    pub(crate) kind: KindArguments,
    /// Component to install in the cluster (repeatable)
    #[arg(long, value_parser = component_parser(), value_name = "COMPONENT", help_heading = "Kind")]
    pub(crate) install: Vec<&'static Component>,
}

/// The value of `--crds`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CrdSource {
    /// No CRDs.
    None,
    /// The CRDs of this project.
    Project,
    /// The CRDs in the files of a folder.
    Folder(PathBuf),
}

impl CrdSource {
    #[expect(clippy::unnecessary_wraps, reason = "clap's value parsers return a Result")]
    fn parse(word: &str) -> Result<Self, String> {
        Ok(match word {
            "none" => Self::None,
            "gardener" => Self::Project,
            folder => Self::Folder(folder.into()),
        })
    }
}

/// Settings of a kind cluster.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Kind")]
pub(crate) struct KindArguments {
    /// Number of nodes, each in a zone of its own
    #[arg(long, value_name = "N", value_parser = ["1", "3"])]
    pub(crate) zones: Option<String>,
    /// Folder for objects, events and logs, which are collected if the cluster or an installation fails [default: reports/kind]
    #[arg(long, value_name = "DIR")]
    pub(crate) logs: Option<PathBuf>,
}

/// The kind cluster of a run.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Kind")]
pub(crate) struct KindRunArguments {
    #[command(flatten)]
    pub(crate) nodes: KindArguments,
    /// Use the cluster that `env up --name NAME` started or an earlier run kept, and do not delete it; if it does not exist,
    /// create it [default: a new cluster]
    #[arg(long, value_name = "NAME", value_parser = parse_name)]
    pub(crate) cluster: Option<String>,
    /// Do not delete the cluster after the run
    #[arg(long)]
    pub(crate) keep: bool,
}

impl KindArguments {
    /// Whether the user gave any of these flags.
    pub(crate) fn is_given(&self) -> bool {
        self.zones.is_some() || self.logs.is_some()
    }
}

impl KindRunArguments {
    /// Whether the user gave any of these flags.
    pub(crate) fn is_given(&self) -> bool {
        self.keep || self.cluster.is_some() || self.nodes.is_given()
    }
}

/// Accepts names that can be part of a path and of a container's name.
fn parse_name(name: &str) -> Result<String, &'static str> {
    let is_valid = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    if is_valid { Ok(name.to_owned()) } else { Err("use letters, digits and -") }
}

#[derive(Debug, Args)]
pub(crate) struct EnvtestAssetsArguments {
    /// The folder; created if it does not exist
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Version of Kubernetes that the API server has, such as 1.28 or 1.28.4 [default: 1.36]
    #[arg(long, value_name = "VERSION")]
    pub(crate) kubernetes: Option<KubernetesVersion>,
}
