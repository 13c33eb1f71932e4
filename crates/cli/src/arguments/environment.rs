//! Arguments of `env`.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use component::Component;

use super::{EnvtestArguments, SubstrateName};
use crate::components::{self, COMPONENTS};

#[derive(Debug, Subcommand)]
pub(crate) enum EnvCommand {
    /// Starts a substrate and prints the path of its kubeconfig
    Up(EnvUpArguments),
    /// Stops it
    Down {
        /// Its name
        #[arg(long, default_value = "default", value_parser = plain)]
        name: String,
    },
    /// Says what each substrate needs and what is missing here
    Doctor,
}

/// The name of a component that can be installed, with what it is for.
fn component() -> impl TypedValueParser<Value = &'static Component> {
    let possible =
        COMPONENTS.iter().map(|component| PossibleValue::new(component.name).help(component.about));
    PossibleValuesParser::new(possible)
        .try_map(|name| components::named(&name).map_err(|failure| failure.text))
}

#[derive(Debug, Args)]
pub(crate) struct EnvUpArguments {
    /// What is started; direct needs nothing
    #[arg(long, value_enum, default_value_t = SubstrateName::Embedded)]
    pub(crate) substrate: SubstrateName,
    /// A name, for several at once
    #[arg(long, default_value = "default", value_parser = plain)]
    pub(crate) name: String,
    /// Stays in the foreground until interrupted
    #[arg(long)]
    pub(crate) foreground: bool,
    /// The CRDs that it begins with: none, the project's (gardener), or those in the files of a folder; not with kind
    /// [default: gardener]
    #[arg(long, value_name = "none|gardener|DIR", value_parser = CrdsFrom::parse)]
    pub(crate) crds: Option<CrdsFrom>,
    /// The audiences that the embedded server answers to, as kube-apiserver's flag has it [default: the issuer]
    #[arg(long, value_name = "AUDIENCE", value_delimiter = ',')]
    pub(crate) api_audiences: Vec<String>,
    #[command(flatten)]
    pub(crate) envtest: EnvtestArguments,
    #[command(flatten)]
    pub(crate) kind: KindArguments,
    /// Which of our components run in it
    #[arg(long, value_parser = component(), value_name = "COMPONENT", help_heading = "Kind")]
    pub(crate) install: Vec<&'static Component>,
}

/// Where CRDs come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CrdsFrom {
    /// There are none.
    Nowhere,
    /// Those that come with the project.
    Project,
    /// The files of a folder.
    Folder(PathBuf),
}

impl CrdsFrom {
    #[expect(clippy::unnecessary_wraps, reason = "clap asks for it")]
    fn parse(word: &str) -> Result<Self, String> {
        Ok(match word {
            "none" => Self::Nowhere,
            "gardener" => Self::Project,
            folder => Self::Folder(folder.into()),
        })
    }
}

/// What the substrate kind is made of.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Kind")]
pub(crate) struct KindArguments {
    /// Nodes, each in a zone of its own: 1 or 3
    #[arg(long, value_name = "N", value_parser = ["1", "3"])]
    pub(crate) zones: Option<String>,
    /// Where objects, events and logs are collected when something fails [default: reports/kind]
    #[arg(long, value_name = "DIR")]
    pub(crate) logs: Option<PathBuf>,
}

/// The cluster of a run.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Kind")]
pub(crate) struct KindRunArguments {
    #[command(flatten)]
    pub(crate) nodes: KindArguments,
    /// Asks in the cluster that `env up --name NAME` started or an earlier run kept, which then stays; makes it if there is
    /// none [default: a new one]
    #[arg(long, value_name = "NAME", value_parser = plain)]
    pub(crate) cluster: Option<String>,
    /// Lets the cluster stay after the run, to look at it
    #[arg(long)]
    pub(crate) keep: bool,
}

impl KindArguments {
    /// Whether anything was said.
    pub(crate) fn is_said(&self) -> bool {
        self.zones.is_some() || self.logs.is_some()
    }
}

impl KindRunArguments {
    /// Whether anything was said.
    pub(crate) fn is_said(&self) -> bool {
        self.keep || self.cluster.is_some() || self.nodes.is_said()
    }
}

/// A name of a folder, and of what `kind` makes.
fn plain(name: &str) -> Result<String, &'static str> {
    let is_plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    if is_plain { Ok(name.to_owned()) } else { Err("use letters, digits and -") }
}
